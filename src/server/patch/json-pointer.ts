import {getOwn, isObject, type JsonObject} from '../kernel/json-value.ts'

export type JsonContainer = JsonObject | unknown[]

/** The place that a JSON pointer names: a key of a container that exists. */
export interface Place {
  container: JsonContainer
  key: string
}

const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** No path of an object is as deep. */
const MOST_PARTS = 500
const INDEX = /^[+-]?\d+$/

/** A list's index, counted from the end if it is negative; undefined if there is no such item. */
export function listIndex(key: string, length: number): number | undefined {
  if (!INDEX.test(key)) return undefined
  const index = Number(key)
  const counted = index < 0 ? index + length : index
  return counted >= 0 && counted < length ? counted : undefined
}

export function isContainer(value: unknown): value is JsonContainer {
  return Array.isArray(value) || isObject(value)
}

/** The value at a key; undefined if there is none. */
export function valueAt({container, key}: Place): unknown {
  if (!Array.isArray(container)) return getOwn(container, key)
  const index = listIndex(key, container.length)
  return index === undefined ? undefined : container[index]
}

/** Finds the container of a pointer's last part; undefined if the path does not exist or the pointer is the root. */
export function findPlace(document: unknown, pointer: string): Place | undefined {
  if (!pointer.startsWith('/')) return undefined
  const parts = pointer.slice(1).split('/', MOST_PARTS + 1)
  if (parts.length > MOST_PARTS) return undefined
  const key = parts.pop() ?? ''
  let container = document
  for (const part of parts) {
    if (!isContainer(container)) return undefined
    container = valueAt({container, key: unescape(part)})
  }
  return isContainer(container) ? {container, key: unescape(key)} : undefined
}
