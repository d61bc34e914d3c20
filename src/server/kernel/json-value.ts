export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What Go's decoder calls a JSON value. */
export function jsonKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** By code units, as Go sorts. */
export const compareTexts = (left: string, right: string) =>
  left < right ? -1 : left > right ? 1 : 0

/** Reads an own key only: `constructor` and `__proto__` are keys like any other. */
export const getOwn = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Sets an own key, also `__proto__`: a plain assignment would change the prototype. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  } else {
    object[key] = value
  }
}

export function removeOwn(object: JsonObject, key: string): void {
  Reflect.deleteProperty(object, key)
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false
  return true
}

export function deepCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => deepCopy(item)) as T
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setOwn(copy, key, deepCopy(value[key]))
  return copy as T
}

/** Equal as JSON: the order of keys does not matter, and an undefined value counts as missing. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => deepEqual(item, right[index]))
    )
  }
  if (!isObject(left) || !isObject(right)) return false
  for (const key of Object.keys(left)) if (!deepEqual(left[key], getOwn(right, key))) return false
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && getOwn(left, key) === undefined) return false
  }
  return true
}

/** Whether a value nests deeper than this many levels. Never recurses: the sender chooses the depth. */
export function isDeeperThan(root: unknown, most: number): boolean {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true
    level = level.flatMap(valuesOf)
  }
  return false
}

export const valuesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

/** A value and all that is in it. Recurses: only for what is known not to nest deeply. */
export const countValues = (value: unknown): number =>
  valuesOf(value).reduce((sum: number, inner) => sum + countValues(inner), 1)
