import type {ServedGroup} from '../discovery/served.ts'
import type {Definitions} from './definitions.ts'
import {V2_DIALECT, INFO, type OpenapiSchema, REASONS} from './dialect.ts'
import type {Method, Parameter} from './operation-shapes.ts'
import {componentsOf, operationsOf} from './operations.ts'
import type {Operation} from './operations.ts'

export interface V2Parameter {
  name: string
  in: 'body' | 'path' | 'query'
  description?: string
  required?: boolean
  type?: string
  uniqueItems?: boolean
  schema?: OpenapiSchema
}

interface V2Response {
  description: string
  schema?: OpenapiSchema
}

interface V2Operation {
  tags: string[]
  description: string
  operationId: string
  consumes: string[]
  produces: string[]
  parameters: V2Parameter[]
  responses: Record<string, V2Response>
  [extension: `x-${string}`]: unknown
}

type V2PathItem = Partial<Record<Method, V2Operation>>

/** An OpenAPI 2.0 document, as far as this server's goes. */
export interface V2Document {
  swagger: '2.0'
  info: {title: string; version: string}
  paths: Record<string, V2PathItem>
  definitions: Definitions
}

const parameter = ({name, in: where, type, description}: Parameter): V2Parameter => ({
  name,
  in: where,
  type,
  description,
  uniqueItems: true,
  ...(where === 'path' ? {required: true} : {}),
})

const bodyParameter = ({definition, required}: NonNullable<Operation['body']>): V2Parameter => ({
  name: 'body',
  in: 'body',
  ...(required ? {required} : {}),
  schema: V2_DIALECT.reference(definition),
})

const operationObject = (operation: Operation): V2Operation => ({
  tags: [operation.tag],
  description: operation.description,
  operationId: operation.id,
  consumes: operation.body?.contentTypes ?? ['*/*'],
  produces: ['application/json'],
  parameters: [
    ...(operation.body === undefined ? [] : [bodyParameter(operation.body)]),
    ...operation.parameters.map(parameter),
  ],
  responses: {
    ...Object.fromEntries(
      operation.codes.map((code) => [
        code,
        {description: REASONS[code] ?? '', schema: V2_DIALECT.reference(operation.answer)},
      ]),
    ),
    401: {description: 'Unauthorized'},
  },
  'x-kubernetes-action': operation.action,
  'x-kubernetes-group-version-kind': operation.gvk,
})

/** `/openapi/v2`: everything that is served, in one document, for clients older than OpenAPI v3 in Kubernetes. */
export function openapiV2(groups: readonly ServedGroup[]): V2Document {
  const resources = groups.flatMap(({versions}) => versions.flatMap((version) => version.resources))
  const paths: V2Document['paths'] = {}
  for (const operation of resources.flatMap(operationsOf)) {
    const path = (paths[operation.path] ??= {})
    path[operation.method] = operationObject(operation)
  }
  return {swagger: '2.0', info: INFO, paths, definitions: componentsOf(resources, V2_DIALECT)}
}
