import {KUBERNETES_VERSION} from '../../version.ts'

export const INFO = {title: 'Kubernetes', version: KUBERNETES_VERSION}

/** A schema in either version of OpenAPI. */
export interface OpenapiSchema {
  $ref?: string
  allOf?: OpenapiSchema[]
  oneOf?: OpenapiSchema[]
  type?: string
  format?: string
  description?: string
  required?: string[]
  properties?: Record<string, OpenapiSchema>
  items?: OpenapiSchema
  additionalProperties?: OpenapiSchema
  [extension: `x-${string}`]: unknown
}

/** Where the two versions of OpenAPI differ in how Kubernetes writes schemas. */
export interface Dialect {
  /** A reference to a definition by its full name. */
  reference: (name: string) => OpenapiSchema
  quantity: OpenapiSchema
  intOrString: OpenapiSchema
}

export const V2_DIALECT: Dialect = {
  reference: (name) => ({$ref: `#/definitions/${name}`}),
  quantity: {type: 'string'},
  intOrString: {type: 'string', format: 'int-or-string'},
}

/** OpenAPI 3.0 allows nothing beside $ref, hence allOf. kubectl looks for exactly this form. */
export const V3_DIALECT: Dialect = {
  reference: (name) => ({allOf: [{$ref: `#/components/schemas/${name}`}]}),
  quantity: {oneOf: [{type: 'string'}, {type: 'number'}]},
  intOrString: {format: 'int-or-string', oneOf: [{type: 'integer'}, {type: 'string'}]},
}

export const REASONS: Record<number, string> = {200: 'OK', 201: 'Created', 202: 'Accepted'}
