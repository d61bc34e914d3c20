import {badRequest} from '../kernel/status.ts'
import {isObject, type JsonObject, setOwn} from '../kernel/json-value.ts'

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
