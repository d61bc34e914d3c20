import {badRequest} from '../kernel/status.ts'
import {failed, goText, goTypeName, rejected} from './go-text.ts'
import {
  jsonKind,
  deepCopy,
  getOwn,
  isObject,
  type JsonObject,
  removeOwn,
  setOwn,
} from '../kernel/json-value.ts'
import type {FieldShape, Shape, StructShape} from './shape.ts'
import {
  DELETE_FROM_PRIMITIVE_LIST,
  DIRECTIVE,
  enforceOrder,
  fieldOfDirective,
  isDirectiveKey,
  type ListRule,
  MergeBudget,
  mergeLists,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
  validateOrder,
  withoutDirectives,
} from './strategic-list.ts'

interface Child {
  shape: Shape
  patch?: FieldShape['patch']
}

const UNKNOWN: Child = {shape: {kind: 'any'}}

function childOf(shape: Shape, key: string): Child {
  if (shape.kind === 'struct') return shape.fields.get(key) ?? UNKNOWN
  return shape.kind === 'map' ? {shape: shape.value} : UNKNOWN
}

function listRule({shape, patch}: Child, budget: MergeBudget): ListRule {
  const item = shape.kind === 'list' ? shape.item : UNKNOWN.shape
  return {
    merges: patch?.merge ?? false,
    ...(patch?.key === undefined ? {} : {key: patch.key}),
    mergeItems: (original, change) => mergeMaps(original, change, item, budget),
    budget,
  }
}

function applyRetainKeys(original: JsonObject, patch: JsonObject): void {
  const retained = getOwn(patch, RETAIN_KEYS)
  if (retained === undefined) return
  removeOwn(patch, RETAIN_KEYS)
  if (!Array.isArray(retained)) throw badRequest('invalid patch format of retainKeys')
  const kept = new Set<unknown>(retained)
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || isDirectiveKey(key) || kept.has(key)) continue
    throw rejected()
  }
  for (const key of Object.keys(original)) if (!kept.has(key)) removeOwn(original, key)
}

function asList(value: unknown): unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value as unknown[]
  throw failed(`expected a []interface {}, but received a ${goTypeName(value)}`)
}

/** Merges each list that has an order, and removes it from the patch. */
function applyElementOrders(
  original: JsonObject,
  patch: JsonObject,
  shape: Shape,
  budget: MergeBudget,
): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue
    const order = asList(patch[key])
    removeOwn(patch, key)
    const field = fieldOfDirective(key, SET_ELEMENT_ORDER)
    const current = getOwn(original, field)
    const change = getOwn(patch, field)
    if (current === undefined && (change === undefined || change === null)) continue
    if (change === null) continue
    const rule = listRule(childOf(shape, field), budget)
    const [currentList, changeList] = [asList(current), asList(change)]
    budget.take(currentList.length + order.length)
    validateOrder(changeList, order, rule)
    const merged =
      current === undefined || change === undefined
        ? (withoutDirectives(current === undefined ? changeList : currentList) as unknown[])
        : mergeLists(currentList, changeList, rule)
    setOwn(original, field, enforceOrder(merged, order, currentList, rule))
    removeOwn(patch, field)
  }
}

function setOrDrop(original: JsonObject, key: string, value: unknown): void {
  const kept = withoutDirectives(value)
  if (kept === undefined) removeOwn(original, key)
  else setOwn(original, key, kept)
}

function deleteFromList(original: JsonObject, field: string, change: unknown): void {
  if (change === null) {
    removeOwn(original, field)
    return
  }
  const current = getOwn(original, field)
  if (!Array.isArray(current) || !Array.isArray(change)) return
  const deleted = new Set<unknown>(change)
  setOwn(
    original,
    field,
    current.filter((item) => !deleted.has(item)),
  )
}

/** Changes `original`, which is already a copy. */
function mergeMaps(
  original: JsonObject,
  patch: JsonObject,
  shape: Shape,
  budget: MergeBudget,
): JsonObject {
  const directive = getOwn(patch, DIRECTIVE)
  if (directive === 'delete') return {}
  if (directive === 'replace') {
    removeOwn(patch, DIRECTIVE)
    return withoutDirectives(patch) as JsonObject
  }
  if (directive !== undefined) {
    throw failed(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`)
  }
  applyRetainKeys(original, patch)
  applyElementOrders(original, patch, shape, budget)
  for (const key of Object.keys(patch)) {
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST)) {
      deleteFromList(original, fieldOfDirective(key, DELETE_FROM_PRIMITIVE_LIST), patch[key])
    } else {
      mergeKey(original, key, patch[key], childOf(shape, key), budget)
    }
  }
  return original
}

function mergeKey(
  original: JsonObject,
  key: string,
  change: unknown,
  child: Child,
  budget: MergeBudget,
): void {
  const current = getOwn(original, key)
  if (change === null) removeOwn(original, key)
  else if (isObject(current) && isObject(change)) {
    setOwn(original, key, mergeMaps(current, change, child.shape, budget))
  } else if (Array.isArray(current) && Array.isArray(change)) {
    setOwn(original, key, mergeLists(current, change, listRule(child, budget)))
  } else setOrDrop(original, key, change)
}

/**
 * Kubernetes' strategic merge patch: lists are merged by the keys that the schema declares, `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList` and `$setElementOrder` are followed. Inputs stay as they are.
 */
export function applyStrategicMergePatch(
  document: JsonObject,
  patch: unknown,
  shape: StructShape,
): JsonObject {
  if (patch === null) return deepCopy(document)
  if (!isObject(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return mergeMaps(deepCopy(document), deepCopy(patch), shape, new MergeBudget())
}
