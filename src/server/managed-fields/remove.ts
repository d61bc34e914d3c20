import {isObject, type JsonObject, setOwn} from '../kernel/json-value.ts'
import type {ListShape, Shape} from '../patch/shape.ts'
import {type FieldSet, node} from './field-set.ts'
import {itemElement} from './list-items.ts'
import {fieldElement, type PathElement} from './path-element.ts'

const fieldShape = (shape: Shape, key: string): Shape => {
  if (shape.kind === 'struct') return shape.fields.get(key)?.shape ?? {kind: 'any'}
  return shape.kind === 'map' ? shape.value : shape
}

function removeFromObject(shape: Shape, object: JsonObject, set: FieldSet): unknown {
  const kept: JsonObject = {}
  let count = 0
  for (const key of Object.keys(object)) {
    const below = set.children.get(fieldElement(key))
    if (below?.self) continue
    const value =
      below === undefined ? object[key] : removeFields(fieldShape(shape, key), object[key], below)
    if (value === undefined) continue
    setOwn(kept, key, value)
    count++
  }
  return count > 0 ? kept : undefined
}

function removeFromList(shape: ListShape, items: unknown[], set: FieldSet): unknown {
  const kept: unknown[] = []
  for (const item of items) {
    const below = set.children.get(itemElement(shape, item))
    if (below?.self) continue
    const value = below === undefined ? item : removeFields(shape.item, item, below)
    if (value !== undefined) kept.push(value)
  }
  return kept.length > 0 ? kept : undefined
}

/** The value without the set's paths and all that is below them; undefined if nothing is left. Shares what stays. */
export function removeFields(shape: Shape, value: unknown, set: FieldSet): unknown {
  if (set.children.size === 0) return value
  if (isObject(value)) return removeFromObject(shape, value, set)
  if (!Array.isArray(value) || shape.kind !== 'list' || shape.relation === 'atomic') return value
  return removeFromList(shape, value, set)
}

const shapeBelow = (shape: Shape, element: PathElement): Shape => {
  if (shape.kind === 'list') return shape.item
  return fieldShape(shape, element.slice(2))
}

/** Adds the structs that contain a path of the set, so that they are removed when all their fields are. */
export function withStructs(shape: Shape, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of set.children) {
    const below = withStructs(shapeBelow(shape, element), child)
    const named = shape.kind === 'struct' && shape.fields.has(element.slice(2))
    children.set(element, named ? node(true, below.children) : below)
  }
  return node(set.self, children)
}
