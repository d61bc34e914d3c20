import type {ApiObject} from '../../api/meta.ts'
import {isEmptyObject, isObject, type JsonObject, setOwn} from '../kernel/json-value.ts'
import type {ListShape, Shape, StructShape} from '../patch/shape.ts'
import {compare} from './compare.ts'
import {difference, EMPTY_SET, type FieldSet, isEmptySet, LEAF, node} from './field-set.ts'
import {itemsByElement} from './list-items.ts'
import {withoutManagedFields} from './ownership.ts'
import {fieldElement, type PathElement} from './path-element.ts'
import {validateConfiguration} from './validate.ts'

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

/** kubectl's client-side apply stores its last configuration here. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const MAX_ANNOTATION_BYTES = 256 * 1024

function parseLastApplied(live: ApiObject): unknown {
  try {
    return JSON.parse(live.metadata.annotations?.[LAST_APPLIED] ?? '')
  } catch {
    return undefined
  }
}

/**
 * The fields that kubectl's client-side apply set and nobody has changed since: kubectl may take them over with server-side
 * apply without a conflict.
 */
export function fieldsLastApplied(
  shape: StructShape,
  live: ApiObject,
  apiVersion: string,
): FieldSet {
  const last = parseLastApplied(live)
  if (!isObject(last) || last.apiVersion !== apiVersion) return EMPTY_SET
  if (validateConfiguration(shape, last) !== undefined) return EMPTY_SET
  const found = compare(shape, last, withoutManagedFields(live))
  const fields = configuredFields(shape, last)
  if (found === undefined) return fields
  return difference(difference(fields, found.changed), found.removed)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value).sort()) setOwn(copy, key, sorted(value[key]))
  return copy
}

/** JSON as Go's encoder writes it: sorted, safe in HTML, ended by a newline. */
const goJson = (value: unknown) =>
  `${JSON.stringify(sorted(value)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}\n`

function configurationText(applied: JsonObject): string {
  const metadata = isObject(applied.metadata) ? applied.metadata : {}
  if (!isObject(metadata.annotations)) return goJson(applied)
  const {[LAST_APPLIED]: _, ...annotations} = metadata.annotations
  return goJson({...applied, metadata: {...metadata, annotations}})
}

/**
 * Updates the annotation after kubectl's server-side apply, so that its client-side apply still works. Changes the object,
 * if it has the annotation.
 */
export function refreshLastApplied(object: ApiObject, applied: JsonObject): void {
  const {annotations} = object.metadata
  if (!annotations?.[LAST_APPLIED]) return
  annotations[LAST_APPLIED] = configurationText(applied)
  const bytes = Object.entries(annotations)
    .map(([name, value]) => Buffer.byteLength(name) + Buffer.byteLength(value))
    .reduce((sum, size) => sum + size, 0)
  if (bytes > MAX_ANNOTATION_BYTES) Reflect.deleteProperty(annotations, LAST_APPLIED)
}
