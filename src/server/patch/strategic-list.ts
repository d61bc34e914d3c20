import {isObject, type JsonObject, setOwn} from '../kernel/json-value.ts'
import {badRequest, tooLarge} from '../kernel/status.ts'
import {failed, goText, noMergeKey, rejected} from './go-text.ts'

export const DIRECTIVE = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList'
export const SET_ELEMENT_ORDER = '$setElementOrder'

/** A directive about another field of the same map. */
export const isDirectiveKey = (key: string) =>
  key.startsWith(DELETE_FROM_PRIMITIVE_LIST) || key.startsWith(SET_ELEMENT_ORDER)

const FORMAT_ERRORS: Record<string, string> = {
  [DELETE_FROM_PRIMITIVE_LIST]: 'invalid patch format of primitive list',
  [SET_ELEMENT_ORDER]: 'invalid patch format of setElementOrder list',
}

/** The `f` of `$setElementOrder/f`. */
export function fieldOfDirective(key: string, prefix: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(FORMAT_ERRORS[prefix] ?? '')
  return key.slice(prefix.length + 1)
}

/**
 * What is left of a value that the original does not have. Nulls and directives have no effect there and are removed, and so
 * is a map with `$patch`. Undefined if nothing is left.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, DIRECTIVE)) return undefined
  const kept: JsonObject = {}
  for (const key of Object.keys(value)) {
    if (key === RETAIN_KEYS || isDirectiveKey(key) || value[key] === null) continue
    const child = withoutDirectives(value[key])
    if (child !== undefined) setOwn(kept, key, child)
  }
  return kept
}

/** How the schema merges a list. */
export interface ListRule {
  /** Replaced as a whole otherwise. */
  merges: boolean
  /** The field that tells items apart; absent for lists of primitives. */
  key?: string
  mergeItems: (original: JsonObject, patch: JsonObject) => JsonObject
  budget: MergeBudget
}

/** A patch may name one item many times, and each time all lists inside the item are processed. */
const MOST_MERGED_ITEMS = 500_000

/** How many more list items one patch may process. */
export class MergeBudget {
  #left = MOST_MERGED_ITEMS

  take(items: number): void {
    this.#left -= items
    if (this.#left < 0) throw tooLarge('The patch merges too many items of lists')
  }
}

const isDirective = (item: unknown) => isObject(item) && Object.hasOwn(item, DIRECTIVE)

/** What identifies an item: the value of its merge key, or the item itself. */
function identity(item: unknown, {key}: ListRule): unknown {
  if (key === undefined) return item
  if (!isObject(item)) throw failed(`value for key ${goText(item)} is not a map.`)
  if (!Object.hasOwn(item, key)) throw noMergeKey(item, key)
  return item[key]
}

const kindOf = (item: unknown) => (isObject(item) ? 'map' : item === null ? 'null' : typeof item)

/** All items have one kind, and it is not a list. */
function requireOneKind(original: unknown[], patch: unknown[]): void {
  const all = [...original, ...patch]
  if (all.some((item) => Array.isArray(item))) throw rejected()
  if (new Set(all.map(kindOf)).size > 1) {
    throw failed(`list element types are not identical: ${goText([original, patch])}`)
  }
}

/** The position of each item; of equal ones, the first. */
function positions(items: unknown[], rule: ListRule): Map<unknown, number> {
  const places = new Map<unknown, number>()
  for (const [index, item] of items.entries()) {
    const id = identity(item, rule)
    if (!places.has(id)) places.set(id, index)
  }
  return places
}

/**
 * Orders a merged list. Items that `order` names come in that order. The others stay before the items that they preceded on
 * the server, and after new ones.
 */
export function enforceOrder(
  merged: unknown[],
  order: unknown[],
  serverOrder: unknown[],
  rule: ListRule,
): unknown[] {
  const ordered = positions(order, rule)
  const onServer = positions(serverOrder, rule)
  const rank = (item: unknown, ranks: Map<unknown, number>) =>
    ranks.get(identity(item, rule)) ?? Number.MAX_SAFE_INTEGER
  const named = merged.filter((item) => ordered.has(identity(item, rule)))
  named.sort((left, right) => rank(left, ordered) - rank(right, ordered))
  const others = merged.filter((item) => !ordered.has(identity(item, rule)))
  others.sort((left, right) => rank(left, onServer) - rank(right, onServer))

  const result: unknown[] = []
  let next = 0
  for (const item of named) {
    const place = onServer.get(identity(item, rule)) ?? -1
    while (next < others.length && rank(others[next], onServer) < place) result.push(others[next++])
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

/** Throws unless the patch names only items of the order, in the same order. */
export function validateOrder(patch: unknown[], order: unknown[], rule: ListRule): void {
  const ordered = positions(order, rule)
  let last = -1
  for (const item of patch) {
    if (isDirective(item)) continue
    const place = ordered.get(identity(item, rule))
    if (order.length > 0 && (place === undefined || place <= last)) {
      throw failed(
        `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
      )
    }
    last = place ?? last
  }
}

function mergePrimitives(original: unknown[], patch: unknown[], rule: ListRule): unknown[] {
  return enforceOrder([...new Set([...original, ...patch])], patch, original, rule)
}

/** Applies the list's own directives; returns the server's items that stay, and the patch's items to merge into them. */
function applyListDirectives(original: unknown[], patch: unknown[], rule: ListRule) {
  const deleted = new Set<unknown>()
  let replaces = false
  for (const item of patch) {
    if (!isObject(item) || !isDirective(item)) continue
    const directive = item[DIRECTIVE]
    if (directive === 'delete') deleted.add(identity(item, rule))
    else if (directive === 'replace') replaces = true
    else if (directive === 'merge') {
      throw failed('merging lists cannot yet be specified in the patch')
    } else throw failed(`unknown patch type: ${goText(directive)} in map: ${goText(item)}`)
  }
  const changes = patch.filter((item) => !isDirective(item))
  if (replaces) return {kept: changes, changes: []}
  const kept =
    deleted.size === 0 ? original : original.filter((item) => !deleted.has(identity(item, rule)))
  return {kept, changes}
}

function mergeMaps(original: unknown[], patch: unknown[], rule: ListRule): unknown[] {
  const {kept, changes} = applyListDirectives(original, patch, rule)
  const merged = [...kept]
  const places = positions(kept, rule)
  for (const change of changes) {
    const id = identity(change, rule)
    const place = places.get(id)
    if (place === undefined) {
      places.set(id, merged.length)
      merged.push(withoutDirectives(change))
    } else {
      merged[place] = rule.mergeItems(merged[place] as JsonObject, change as JsonObject)
    }
  }
  return enforceOrder(merged, changes, kept, rule)
}

export function mergeLists(original: unknown[], patch: unknown[], rule: ListRule): unknown[] {
  if (!rule.merges) return withoutDirectives(patch) as unknown[]
  if (patch.length === 0) return original
  rule.budget.take(original.length + patch.length)
  requireOneKind(original, patch)
  if (kindOf(patch[0]) !== 'map') return mergePrimitives(original, patch, rule)
  if (rule.key === undefined) throw failed('cannot merge lists without merge key for map')
  return mergeMaps(original, patch, rule)
}
