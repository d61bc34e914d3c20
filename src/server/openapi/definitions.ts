import {findType, openApiName, packageOfType} from '../../api/schema/index.ts'
import type {FieldSchema, TypeSchema} from '../../api/schema/index.ts'
import type {Dialect, OpenapiSchema} from './dialect.ts'
import {scalarDefinition, scalarSchema} from './scalars.ts'

export type Definitions = Record<string, OpenapiSchema>

export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

const kindOf = (typeName: string) => typeName.slice(typeName.lastIndexOf('.') + 1)

/** Options and statuses are of the package of metadata, but every group speaks them, the core group first of all. */
function gvkOf(typeName: string): GroupVersionKind {
  const {name, group, version} = packageOfType(typeName)
  return {group: name === 'meta/v1' ? '' : group, version, kind: kindOf(typeName)}
}

/** What client-side and server-side apply need to know about merging a field. */
function mergeExtensions(field: FieldSchema): OpenapiSchema {
  const {patch, list, atomic} = field
  const strategies = [
    ...(patch?.merge === true ? ['merge'] : []),
    ...(patch?.retainKeys === true ? ['retainKeys'] : []),
  ]
  return {
    ...(strategies.length === 0 ? {} : {'x-kubernetes-patch-strategy': strategies.join(',')}),
    ...(patch?.key === undefined ? {} : {'x-kubernetes-patch-merge-key': patch.key}),
    ...(list === undefined ? {} : {'x-kubernetes-list-type': list.type}),
    ...(list?.type === 'map' ? {'x-kubernetes-list-map-keys': list.keys} : {}),
    ...(atomic ? {'x-kubernetes-map-type': 'atomic'} : {}),
  }
}

const valueSchema = ({scalar, type}: FieldSchema, dialect: Dialect): OpenapiSchema =>
  scalar ? scalarSchema(type, dialect) : dialect.reference(openApiName(type))

function containerSchema(field: FieldSchema, dialect: Dialect): OpenapiSchema {
  const value = valueSchema(field, dialect)
  if (field.cardinality === 'list') return {type: 'array', items: value}
  return field.cardinality === 'map' ? {type: 'object', additionalProperties: value} : value
}

const propertySchema = (field: FieldSchema, dialect: Dialect): OpenapiSchema => ({
  description: field.description,
  ...containerSchema(field, dialect),
  ...mergeExtensions(field),
})

function typeSchema(type: TypeSchema, dialect: Dialect): OpenapiSchema {
  const fields = [...type.byName.values()]
  const required = fields.filter((field) => field.required).map(({name}) => name)
  return {
    description: type.description,
    type: 'object',
    ...(required.length === 0 ? {} : {required}),
    properties: Object.fromEntries(
      fields.map((field) => [field.name, propertySchema(field, dialect)]),
    ),
    ...(type.object ? {'x-kubernetes-group-version-kind': [gvkOf(type.name)]} : {}),
    ...(type.atomic ? {'x-kubernetes-map-type': 'atomic'} : {}),
  }
}

/** The definitions of types and of everything that their fields refer to. */
export function definitionsOf(typeNames: Iterable<string>, dialect: Dialect): Definitions {
  const definitions: Definitions = {}
  const waiting = [...typeNames]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const definition = openApiName(name)
    if (definitions[definition] !== undefined) continue
    const type = findType(name)
    definitions[definition] = typeSchema(type, dialect)
    for (const field of type.byName.values()) {
      const scalar = field.scalar ? scalarDefinition(field.type, dialect) : undefined
      if (scalar !== undefined) definitions[scalar[0]] = scalar[1]
      if (!field.scalar) waiting.push(field.type)
    }
  }
  return definitions
}

/** The list of a kind: the table of types has none, since all are alike. */
export function listDefinition(typeName: string, dialect: Dialect): OpenapiSchema {
  const {group, version, kind} = gvkOf(typeName)
  return {
    description: `A list of objects of kind ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: {type: 'string', description: 'The group and version of the list.'},
      items: {
        type: 'array',
        items: dialect.reference(openApiName(typeName)),
        description: 'The objects.',
      },
      kind: {type: 'string', description: 'The kind of the list.'},
      metadata: {
        ...dialect.reference(openApiName('meta/v1.ListMeta')),
        description: 'What is true of the list as a whole.',
      },
    },
    'x-kubernetes-group-version-kind': [{group, version, kind: `${kind}List`}],
  }
}

export const listName = (typeName: string) => `${openApiName(typeName)}List`

/** The body of a PATCH: its shape depends on its content type. */
export const PATCH_NAME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch'
export const PATCH_DEFINITION: OpenapiSchema = {
  type: 'object',
  description: 'A change of an object, in the form that the content type names.',
}

/** Sorted by name, so that a document does not depend on the order in which it was built. */
export const sortedDefinitions = (definitions: Definitions): Definitions =>
  Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1)))
