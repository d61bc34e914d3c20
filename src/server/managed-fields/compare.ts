import {deepEqual, getOwn, isEmptyObject, isObject, type JsonObject} from '../kernel/json-value.ts'
import {readField, type ListShape, type Shape, type StructShape} from '../patch/shape.ts'
import {EMPTY_SET, isEmptySet, LEAF, node, type FieldSet} from './field-set.ts'
import {itemsByElement} from './list-items.ts'
import {fieldElement, type PathElement} from './path-element.ts'

/** What differs between two objects. */
export interface Difference {
  /** Added or modified. */
  changed: FieldSet
  removed: FieldSet
}

const SAME = undefined
const MODIFIED: Difference = {changed: LEAF, removed: EMPTY_SET}
const NOTHING: JsonObject = Object.freeze({})

/** Collects what differs below one path. */
class Children {
  private changed: Map<PathElement, FieldSet> | undefined
  private removed: Map<PathElement, FieldSet> | undefined

  add(element: PathElement, found: Difference | undefined): void {
    if (found === undefined) return
    if (!isEmptySet(found.changed)) (this.changed ??= new Map()).set(element, found.changed)
    if (!isEmptySet(found.removed)) (this.removed ??= new Map()).set(element, found.removed)
  }

  difference(): Difference | undefined {
    if (this.changed === undefined && this.removed === undefined) return SAME
    return {changed: node(false, this.changed), removed: node(false, this.removed)}
  }
}

const leaf = (live: unknown, updated: unknown) => (deepEqual(live, updated) ? SAME : MODIFIED)

function compareStructs(shape: StructShape, live: JsonObject, updated: JsonObject) {
  const children = new Children()
  const visit = (name: string) => {
    const field = shape.fields.get(name)
    if (field === undefined) return
    const found = compare(field.shape, readField(field, live), readField(field, updated))
    children.add(fieldElement(name), found)
  }
  for (const name in updated) visit(name)
  for (const name in live) if (!Object.hasOwn(updated, name)) visit(name)
  return children.difference()
}

function compareMaps(value: Shape, live: JsonObject, updated: JsonObject) {
  const children = new Children()
  for (const key of Object.keys(updated)) {
    children.add(fieldElement(key), compare(value, getOwn(live, key), updated[key]))
  }
  for (const key of Object.keys(live)) {
    if (Object.hasOwn(updated, key)) continue
    children.add(fieldElement(key), compare(value, live[key], undefined))
  }
  return children.difference()
}

/** Duplicates are compared as a whole: nobody can tell who owns which of them. */
function compareItems(shape: ListShape, live: unknown[], updated: unknown[]) {
  if (live.length > 1 && updated.length > 1) return leaf(live, updated)
  if (live.length <= 1 && updated.length <= 1) return compare(shape.item, live[0], updated[0])
  if (live.length > 1) {
    const added = updated.length === 0 ? EMPTY_SET : everyPath(shape.item, updated[0])
    return {changed: added, removed: LEAF}
  }
  return {
    changed: LEAF,
    removed: live.length === 0 ? EMPTY_SET : everyPath(shape.item, live[0]),
  }
}

function compareLists(shape: ListShape, live: unknown[], updated: unknown[]) {
  const lives = itemsByElement(shape, live)
  const updates = itemsByElement(shape, updated)
  const children = new Children()
  for (const [element, items] of updates) {
    children.add(element, compareItems(shape, lives.get(element) ?? [], items))
  }
  for (const [element, items] of lives) {
    if (!updates.has(element)) children.add(element, compareItems(shape, items, []))
  }
  return children.difference()
}

/** A value without a schema that was a map and no longer is, or the other way round. */
function compareKinds(live: unknown, updated: unknown): Difference {
  const below = (value: unknown) =>
    isObject(value) ? node(false, everyPath({kind: 'any'}, value).children) : EMPTY_SET
  return {changed: node(true, below(updated).children), removed: below(live)}
}

function compareObjects(shape: Shape, live: unknown, updated: unknown): Difference | undefined {
  const lives = isObject(live) ? live : NOTHING
  const updates = isObject(updated) ? updated : NOTHING
  if (isEmptyObject(lives) && isEmptyObject(updates)) return leaf(live, updated)
  if (shape.kind === 'struct') return compareStructs(shape, lives, updates)
  return compareMaps(shape.kind === 'map' ? shape.value : shape, lives, updates)
}

/**
 * Compares two values of one schema, as structured-merge-diff does for decoded objects: granular down to the leaves, which are
 * scalars, and lists, maps and structs that are taken as a whole. Undefined if they are the same.
 */
export function compare(shape: Shape, live: unknown, updated: unknown): Difference | undefined {
  if (live === updated) return SAME
  if (live === undefined) return {changed: everyPath(shape, updated), removed: EMPTY_SET}
  if (updated === undefined) return {changed: EMPTY_SET, removed: everyPath(shape, live)}
  switch (shape.kind) {
    case 'struct':
    case 'map':
      return shape.atomic ? leaf(live, updated) : compareObjects(shape, live, updated)
    case 'any':
      if (isObject(live) && isObject(updated)) return compareObjects(shape, live, updated)
      return isObject(live) || isObject(updated) ? compareKinds(live, updated) : leaf(live, updated)
    case 'list': {
      const lives = Array.isArray(live) ? (live as unknown[]) : []
      const updates = Array.isArray(updated) ? (updated as unknown[]) : []
      const whole = shape.relation === 'atomic' || lives.length + updates.length === 0
      return whole ? leaf(live, updated) : compareLists(shape, lives, updates)
    }
    default:
      return leaf(live, updated)
  }
}

function structPaths(shape: StructShape, object: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const field of shape.fields.values()) {
    const value = readField(field, object)
    if (value !== undefined) children.set(fieldElement(field.name), everyPath(field.shape, value))
  }
  return node(true, children)
}

function mapPaths(shape: Shape, object: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const key of Object.keys(object)) {
    children.set(fieldElement(key), everyPath(shape, object[key]))
  }
  return node(true, children)
}

function listPaths(shape: ListShape, items: unknown[]): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const [element, same] of itemsByElement(shape, items)) {
    children.set(element, same.length === 1 ? everyPath(shape.item, same[0]) : LEAF)
  }
  return node(true, children)
}

/**
 * The path of a value that was added or removed as a whole, and every path below it: its writer now owns them, or nobody
 * does.
 */
function everyPath(shape: Shape, value: unknown): FieldSet {
  if (isObject(value)) {
    if (shape.kind === 'struct' && !shape.atomic) return structPaths(shape, value)
    if (shape.kind === 'map' && !shape.atomic) return mapPaths(shape.value, value)
    return shape.kind === 'any' ? mapPaths(shape, value) : LEAF
  }
  const granular = Array.isArray(value) && shape.kind === 'list' && shape.relation !== 'atomic'
  return granular ? listPaths(shape, value) : LEAF
}
