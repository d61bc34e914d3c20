import {
  countValues,
  deepCopy,
  deepEqual,
  getOwn,
  isDeeperThan,
  isObject,
  jsonKind,
  type JsonObject,
  removeOwn,
  setOwn,
} from '../kernel/json-value.ts'
import {badRequest, tooLarge} from '../kernel/status.ts'
import {rejected} from './go-text.ts'

/** Patches are processed recursively. No object nests nearly as deeply. */
export const MOST_PATCH_DEPTH = 500

const MAX_OPERATIONS = 10_000
/** How many bytes `copy` operations may add; a few of them double a document each. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024
/** How many values they may add: each is visited three times, and a small one costs as much as a large one. */
const MAX_COPIED_VALUES = 25_000
/** How many items of lists all operations together may shift: each may shift a whole list. */
const MAX_SHIFTED_ITEMS = 200_000_000

type JsonContainer = JsonObject | unknown[]

/** The place that a JSON pointer names: a key of a container that exists. */
interface Place {
  container: JsonContainer
  key: string
}

const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** No path of an object is as deep. */
const MOST_PARTS = 500
const INDEX = /^[+-]?\d+$/

/** A list's index, counted from the end if it is negative; undefined if there is no such item. */
function listIndex(key: string, length: number): number | undefined {
  if (!INDEX.test(key)) return undefined
  const index = Number(key)
  const counted = index < 0 ? index + length : index
  return counted >= 0 && counted < length ? counted : undefined
}

function isContainer(value: unknown): value is JsonContainer {
  return Array.isArray(value) || isObject(value)
}

/** The value at a key; undefined if there is none. */
function valueAt({container, key}: Place): unknown {
  if (!Array.isArray(container)) return getOwn(container, key)
  const index = listIndex(key, container.length)
  return index === undefined ? undefined : container[index]
}

/** Finds the container of a pointer's last part; undefined if the path does not exist or the pointer is the root. */
function findPlace(document: unknown, pointer: string): Place | undefined {
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

interface Operation {
  op?: string
  path?: string
  from?: string
  value?: unknown
}

const TEXTS = ['op', 'path', 'from'] as const

function parseOperation(item: unknown): Operation {
  if (item === null) return {}
  if (!isObject(item)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(item)} into Go value of type handlers.jsonPatchOp`,
    )
  }
  for (const name of TEXTS) {
    const text = item[name]
    if (text !== undefined && text !== null && typeof text !== 'string') {
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonKind(text)} into Go struct field jsonPatchOp.${name} of type string`,
      )
    }
  }
  return item
}

function parseOperations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type []handlers.jsonPatchOp`,
    )
  }
  const operations = patch.map(parseOperation)
  if (operations.length > MAX_OPERATIONS) {
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  }
  return operations
}

function placeOf(document: unknown, pointer: string | undefined): Place {
  const place = pointer === undefined ? undefined : findPlace(document, pointer)
  if (place === undefined) throw rejected()
  return place
}

/** Moves and copies can nest a document as deeply as there are operations, and the next steps recurse over it. */
function requireShallow(value: unknown): void {
  if (isDeeperThan(value, MOST_PATCH_DEPTH)) throw rejected()
}

/** A map's key need not exist, as in evanphx/json-patch; a list's item must. */
function replaceAt({container, key}: Place, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value)
    return
  }
  const index = listIndex(key, container.length)
  if (index === undefined) throw rejected()
  container[index] = value
}

/** A map's missing key reads as null; a list's missing item is an error. */
function readAt(place: Place): unknown {
  const value = valueAt(place)
  if (value === undefined && Array.isArray(place.container)) throw rejected()
  return value ?? null
}

/** The state of one run: the document is a copy that operations change in place. */
class Run {
  document: unknown
  private copied = {bytes: 0, values: 0}
  private shifted = 0

  constructor(document: unknown) {
    this.document = deepCopy(document)
  }

  apply(operation: Operation): void {
    const {op, path, from, value = null} = operation
    switch (op) {
      case 'add':
        this.addAt(placeOf(this.document, path), deepCopy(value))
        return
      case 'remove':
        this.removeAt(placeOf(this.document, path))
        return
      case 'replace':
        this.replace(path, deepCopy(value))
        return
      case 'move':
        this.move(from, path)
        return
      case 'copy':
        this.copy(from, path)
        return
      case 'test':
        this.test(path, value)
        return
      default:
        throw rejected()
    }
  }

  private replace(path: string | undefined, value: unknown): void {
    if (path !== '') {
      replaceAt(placeOf(this.document, path), value)
      return
    }
    if (!isContainer(value)) throw rejected()
    this.document = value
  }

  private move(from: string | undefined, path: string | undefined): void {
    const source = placeOf(this.document, from)
    const value = readAt(source)
    this.removeAt(source)
    this.addAt(placeOf(this.document, path), value)
  }

  private copy(from: string | undefined, path: string | undefined): void {
    const value = readAt(placeOf(this.document, from))
    const target = placeOf(this.document, path)
    requireShallow(value)
    this.copied.values += countValues(value)
    if (this.copied.values > MAX_COPIED_VALUES) {
      throw tooLarge(
        `The copy operations of a JSON patch add more than ${MAX_COPIED_VALUES} values`,
      )
    }
    this.copied.bytes += Buffer.byteLength(JSON.stringify(value))
    if (this.copied.bytes > MAX_COPIED_BYTES) throw rejected()
    this.addAt(target, deepCopy(value))
  }

  private addAt({container, key}: Place, value: unknown): void {
    if (!Array.isArray(container)) {
      setOwn(container, key, value)
      return
    }
    const index = key === '-' ? container.length : listIndex(key, container.length + 1)
    if (index === undefined) throw rejected()
    this.shift(container.length - index)
    container.splice(index, 0, value)
  }

  private removeAt({container, key}: Place): void {
    if (!Array.isArray(container)) {
      if (!Object.hasOwn(container, key)) throw rejected()
      removeOwn(container, key)
      return
    }
    const index = listIndex(key, container.length)
    if (index === undefined) throw rejected()
    this.shift(container.length - index)
    container.splice(index, 1)
  }

  private shift(items: number): void {
    this.shifted += items
    if (this.shifted > MAX_SHIFTED_ITEMS) {
      throw tooLarge('The operations of the JSON patch shift too many items of lists')
    }
  }

  private test(path: string | undefined, expected: unknown): void {
    const actual = path === '' ? this.document : readAt(placeOf(this.document, path))
    if (!deepEqual(actual, expected)) throw rejected()
  }
}

/**
 * RFC 6902 as kube-apiserver applies it by evanphx/json-patch: negative indices count from the end, `replace` of a missing
 * key of a map adds it, `test` of a missing key passes for null. Inputs stay as they are.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = parseOperations(patch)
  const run = new Run(document)
  for (const operation of operations) run.apply(operation)
  requireShallow(run.document)
  return run.document
}

/** Changes `target`, which is already a copy. Values from the patch are copied. */
function mergeInto(target: JsonObject, patch: JsonObject): JsonObject {
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) {
      removeOwn(target, key)
    } else if (isObject(value)) {
      const current = getOwn(target, key)
      setOwn(target, key, mergeInto(isObject(current) ? current : {}, value))
    } else {
      setOwn(target, key, deepCopy(value))
    }
  }
  return target
}

/** RFC 7386. Inputs stay as they are. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return mergeInto(deepCopy(document), patch)
}
