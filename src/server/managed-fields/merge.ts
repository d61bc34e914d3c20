import {deepCopy, getOwn, isObject, type JsonObject, setOwn} from '../kernel/json-value.ts'
import type {ListShape, Shape} from '../patch/shape.ts'
import {type FieldSet, node} from './field-set.ts'
import {itemElement, itemsByElement} from './list-items.ts'
import {fieldElement, type PathElement} from './path-element.ts'

function mergeObjects(shape: Shape, live: JsonObject, applied: JsonObject): JsonObject {
  const merged: JsonObject = {}
  const childShape = (key: string): Shape => {
    if (shape.kind === 'struct') return shape.fields.get(key)?.shape ?? {kind: 'any'}
    return shape.kind === 'map' ? shape.value : shape
  }
  for (const key of new Set([...Object.keys(live), ...Object.keys(applied)])) {
    const value = mergeApplied(childShape(key), getOwn(live, key), getOwn(applied, key))
    // A null field of a struct is not set.
    if (value === undefined || (value === null && shape.kind === 'struct')) continue
    setOwn(merged, key, value)
  }
  return merged
}

/** The applied order wins. Items that only the live list has stay after the item that they followed, or at the front. */
function mergeLists(shape: ListShape, live: unknown[], applied: unknown[]): unknown[] {
  const lives = itemsByElement(shape, live)
  const applies = itemsByElement(shape, applied)
  const order = live.map((item) => ({item, element: itemElement(shape, item)}))
  const shared = [...applies.keys()].filter((element) => lives.has(element))
  const merged: unknown[] = []
  let next = 0
  let nextShared = 0
  const takeLiveUpTo = (stop: PathElement | undefined) => {
    for (; next < order.length; next++) {
      const here = order[next]
      if (here === undefined || here.element === stop) return
      if (!applies.has(here.element)) merged.push(deepCopy(here.item))
    }
  }
  for (const [element, [item]] of applies) {
    takeLiveUpTo(shared[nextShared])
    const same = lives.get(element) ?? []
    merged.push(mergeApplied(shape.item, same.length === 1 ? same[0] : undefined, item))
    if (shared[nextShared] === element) {
      nextShared++
      if (order[next]?.element === element) next++
    }
  }
  takeLiveUpTo(undefined)
  return merged
}

/**
 * Merges an applied configuration into the live value: the configuration's leaves win, nothing is removed. A null does not
 * remove existing items and keys. Returns a new value.
 */
export function mergeApplied(shape: Shape, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return deepCopy(live)
  const granular =
    shape.kind === 'any' ||
    ((shape.kind === 'struct' || shape.kind === 'map') && !shape.atomic) ||
    (shape.kind === 'list' && shape.relation !== 'atomic')
  if (!granular) return deepCopy(applied)
  if (shape.kind === 'list') {
    if (applied === null && Array.isArray(live) && live.length > 0) return deepCopy(live)
    if (!Array.isArray(applied)) return deepCopy(applied)
    return mergeLists(shape, Array.isArray(live) ? live : [], applied)
  }
  if (applied === null && isObject(live) && Object.keys(live).length > 0) return deepCopy(live)
  if (!isObject(applied)) return deepCopy(applied)
  return mergeObjects(shape, isObject(live) ? live : {}, applied)
}

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
