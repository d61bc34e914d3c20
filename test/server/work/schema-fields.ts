import {findType, type FieldSchema, type TypeSchema} from '../../../src/api/schema/index.ts'
import type {Resource} from '../../../src/server/kernel/resource.ts'

/** A key of a map, or an index of a list. */
export type Step = string | number

/** One field of the schema table, by the first way that leads to it. */
export interface FieldPlace {
  resource: Resource
  field: FieldSchema
  path: Step[]
  name: string
}

/** The fields of a kind, but for those of types that were seen: the same code checks them wherever they stand. */
export function* fieldsOf(
  resource: Resource,
  seen: Set<string>,
  type: TypeSchema = findType(resource.type),
  path: Step[] = [],
): Generator<FieldPlace> {
  if (seen.has(type.name)) return
  seen.add(type.name)
  for (const field of type.byName.values()) {
    const here = [...path, field.name]
    yield {resource, field, path: here, name: `${resource.plural} ${here.join('.')}`}
    if (field.scalar) continue
    const inside = {one: [], list: [0], map: ['key']}[field.cardinality]
    yield* fieldsOf(resource, seen, findType(field.type), [...here, ...inside])
  }
}

type Container = Record<Step, unknown>

/** A copy of an object with a value put in at a path; what is missing on the way is added. */
export function withValue(object: object, path: Step[], value: unknown): object {
  const copy = structuredClone(object)
  let container = copy as Container
  for (const [index, step] of path.slice(0, -1).entries()) {
    container[step] ??= typeof path[index + 1] === 'number' ? [{}] : {}
    container = container[step] as Container
  }
  container[path.at(-1) ?? ''] = value
  return copy
}
