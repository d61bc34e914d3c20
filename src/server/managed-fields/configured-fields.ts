import {isEmptyObject, isObject, type JsonObject} from '../kernel/json-value.ts'
import type {ListShape, Shape} from '../patch/shape.ts'
import {EMPTY_SET, type FieldSet, isEmptySet, LEAF, node} from './field-set.ts'
import {itemsByElement} from './list-items.ts'
import {fieldElement, type PathElement} from './path-element.ts'

const withSelf = (set: FieldSet): FieldSet => (set.self ? set : node(true, set.children))

function objectFields(shape: Shape, object: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === undefined) continue
    const field = shape.kind === 'struct' ? shape.fields.get(key) : undefined
    const inner = field?.shape ?? (shape.kind === 'map' ? shape.value : {kind: 'any' as const})
    const below = configuredFields(inner, value)
    const bare = value === null || (isObject(value) && isEmptyObject(value))
    const set = bare || field === undefined ? withSelf(below) : below
    if (!isEmptySet(set)) children.set(fieldElement(key), set)
  }
  return node(false, children)
}

function listFields(shape: ListShape, items: unknown[]): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const [element, same] of itemsByElement(shape, items)) {
    const below = same.length === 1 ? configuredFields(shape.item, same[0]) : LEAF
    children.set(element, withSelf(below))
  }
  return node(false, children)
}

/**
 * The fields that a configuration sets and its applier owns: leaves, items of lists, keys of maps. A struct with fields is
 * not owned itself.
 */
export function configuredFields(shape: Shape, value: unknown): FieldSet {
  switch (shape.kind) {
    case 'scalar':
      return LEAF
    case 'list':
      if (shape.relation === 'atomic') return LEAF
      return Array.isArray(value) ? listFields(shape, value) : EMPTY_SET
    case 'any':
      return isObject(value) ? objectFields(shape, value) : LEAF
    default:
      if (shape.atomic) return LEAF
      return isObject(value) ? objectFields(shape, value) : EMPTY_SET
  }
}
