import {compareTexts, isObject, type JsonObject} from '../kernel/json-value.ts'

/** One step of a field path, as FieldsV1 writes it: `f:name`, `k:{"key":"value"}`, `v:value` or `i:index`. */
export type PathElement = string

export const fieldElement = (name: string): PathElement => `f:${name}`

export const valueElement = (value: unknown): PathElement => `v:${JSON.stringify(value)}`

/** Keys come sorted by name. */
export function keyElement(keys: readonly [name: string, value: unknown][]): PathElement {
  const pairs = keys.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  return `k:{${pairs.join(',')}}`
}

type Entries = readonly [name: string, value: unknown][]

const sortedEntries = (keys: JsonObject): Entries =>
  Object.entries(keys).sort(([left], [right]) => (left < right ? -1 : 1))

/**
 * Normalizes an element that a client wrote, so that equal elements are equal texts. Undefined for kinds of a later version;
 * throws if it is not an element.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ':') throw new SyntaxError('a path element has a colon')
  const body = text.slice(2)
  switch (text[0]) {
    case 'f':
      return text
    case 'v':
      return valueElement(JSON.parse(body))
    case 'k': {
      const keys: unknown = JSON.parse(body)
      if (!isObject(keys)) throw new SyntaxError('keys are an object')
      return keyElement(sortedEntries(keys))
    }
    case 'i':
      if (!/^-?\d+$/.test(body)) throw new SyntaxError('an index is a number')
      return text
    default:
      return undefined
  }
}

/** An element for messages: `.name`, `[key="value"]`, `[="value"]`. */
export function elementText(element: PathElement): string {
  const body = element.slice(2)
  switch (element[0]) {
    case 'k':
      return `[${sortedEntries(JSON.parse(body) as JsonObject)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${body}]`
    case 'i':
      return `[${body}]`
    default:
      return `.${body}`
  }
}

const TYPE_ORDER = ['number', 'string', 'boolean', 'object']

function compareScalars(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right)
  const byType = TYPE_ORDER.indexOf(typeof left) - TYPE_ORDER.indexOf(typeof right)
  return byType || compareTexts(JSON.stringify(left), JSON.stringify(right))
}

function compareKeys(left: Entries, right: Entries): number {
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = compareTexts(name, other[0]) || compareScalars(value, other[1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

const KIND_ORDER = 'fkvi'

interface Sortable {
  element: PathElement
  kind: number
  /** The content: a name as it is, keys as entries, values and indices parsed. */
  content: unknown
}

function sortable(element: PathElement): Sortable {
  const body = element.slice(2)
  if (element.startsWith('f')) return {element, kind: 0, content: body}
  const parsed: unknown = JSON.parse(body)
  const content = element.startsWith('k') ? sortedEntries(parsed as JsonObject) : parsed
  return {element, kind: KIND_ORDER.indexOf(element[0] ?? ''), content}
}

function compareSortables(left: Sortable, right: Sortable): number {
  if (left.kind !== right.kind) return left.kind - right.kind
  if (left.kind === 1) return compareKeys(left.content as Entries, right.content as Entries)
  return compareScalars(left.content, right.content)
}

/** In the order in which Kubernetes writes elements: fields, keys, values, indices; each by its content, numbers as numbers. */
export function sortElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements
  if (elements.every((element) => element.startsWith('f'))) return elements.sort()
  return elements
    .map(sortable)
    .sort(compareSortables)
    .map(({element}) => element)
}
