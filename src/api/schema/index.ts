import {linkType, parseTable} from './parse.ts'
import type {ParsedType} from './parse.ts'
import {ALIASES, PACKAGES} from './packages.ts'
import type {SchemaPackage} from './packages.ts'
import type {TypeSchema} from './types.ts'

export type {FieldSchema, Scalar, TypeSchema} from './types.ts'
export type {SchemaPackage} from './packages.ts'

const parsed = new Map<string, ReadonlyMap<string, ParsedType>>()
const linked = new Map<string, TypeSchema>()

/** Tables are parsed when one of their types is first needed: most commands need none. */
function typesOf(packageName: string): ReadonlyMap<string, ParsedType> {
  let types = parsed.get(packageName)
  if (types === undefined) {
    const tables = PACKAGES.find(({name}) => name === packageName)?.tables ?? []
    const all = tables.flatMap((table) => parseTable(packageName, table, ALIASES))
    types = new Map(all.map((type) => [type.name, type]))
    parsed.set(packageName, types)
  }
  return types
}

const packageOf = (typeName: string) => typeName.slice(0, typeName.lastIndexOf('.'))

function findParsed(name: string): ParsedType {
  const type = typesOf(packageOf(name)).get(name)
  if (type === undefined) throw new RangeError(`the schema table has no type ${name}`)
  return type
}

/** A type of the table by its full name, such as `core/v1.Pod`. Throws if there is none. */
export function findType(name: string): TypeSchema {
  let type = linked.get(name)
  if (type === undefined) {
    type = linkType(findParsed(name), findParsed)
    linked.set(name, type)
  }
  return type
}

/** Every type of the table. */
export function allTypes(): TypeSchema[] {
  return PACKAGES.flatMap(({name}) => [...typesOf(name).keys()].map(findType))
}

/** The object type of a group, version and kind, if the table has it. */
export function findKind(group: string, version: string, kind: string): TypeSchema | undefined {
  const home = PACKAGES.find((one) => one.group === group && one.version === version)
  const name = `${home?.name ?? ''}.${kind}`
  return home !== undefined && typesOf(home.name).get(name)?.object === true
    ? findType(name)
    : undefined
}

/** The package of a type. */
export function packageOfType(typeName: string): SchemaPackage {
  const home = PACKAGES.find(({name}) => name === packageOf(typeName))
  if (home === undefined) throw new RangeError(`the schema table has no package of ${typeName}`)
  return home
}

/** The name of a type's definition in the OpenAPI documents, such as `io.k8s.api.core.v1.ConfigMap`. */
export function openApiName(typeName: string): string {
  return `${packageOfType(typeName).openApi}.${typeName.slice(typeName.lastIndexOf('.') + 1)}`
}
