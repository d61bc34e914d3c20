import {getOwn, isObject} from '../kernel/json-value.ts'
import type {ListShape} from '../patch/shape.ts'
import {keyElement, type PathElement, valueElement} from './path-element.ts'

/** A value that does not match its schema, so its fields are unknown. */
export class NonConforming extends Error {
  override name = 'NonConforming'
}

function keyOf(list: ListShape, item: unknown): PathElement {
  if (item === null || item === undefined) {
    throw new NonConforming('associative list with keys may not have a null element')
  }
  if (!isObject(item)) {
    throw new NonConforming('associative list with keys may not have non-map elements')
  }
  const fields = list.item.kind === 'struct' ? list.item.fields : undefined
  return keyElement(
    list.keys.map((name) => {
      const field = fields?.get(name)
      const value = getOwn(item, name) ?? field?.keyDefault
      if (value !== undefined) return [name, value]
      throw new NonConforming(
        `associative list with keys has an element that omits key field ${JSON.stringify(name)} (and doesn't have default value)`,
      )
    }),
  )
}

function valueOf(item: unknown): PathElement {
  if (Array.isArray(item)) {
    throw new NonConforming('not supported: associative list with lists as elements')
  }
  if (isObject(item)) {
    throw new NonConforming("associative list without keys has an element that's a map type")
  }
  if (item === null || item === undefined) {
    throw new NonConforming("associative list without keys has an element that's an explicit null")
  }
  return valueElement(item)
}

/** The path element of an item of a `set` or `map` list. Throws NonConforming if it has none. */
export const itemElement = (list: ListShape, item: unknown): PathElement =>
  list.relation === 'map' ? keyOf(list, item) : valueOf(item)

/** A list's items by their path element, in the list's order; more than one if they are duplicates. */
export function itemsByElement(list: ListShape, items: unknown[]): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>()
  for (const item of items) {
    const element = itemElement(list, item)
    const same = found.get(element)
    if (same === undefined) found.set(element, [item])
    else same.push(item)
  }
  return found
}
