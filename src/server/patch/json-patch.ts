import {
  countValues,
  deepCopy,
  deepEqual,
  isDeeperThan,
  isObject,
  removeOwn,
  setOwn,
} from '../kernel/json-value.ts'
import {badRequest, tooLarge} from '../kernel/status.ts'
import {jsonTypeName, rejected} from './go-text.ts'
import {findPlace, isContainer, listIndex, type Place, valueAt} from './json-pointer.ts'

/** Patches are processed recursively. No object nests nearly as deeply. */
export const MOST_PATCH_DEPTH = 500

const MAX_OPERATIONS = 10_000
/** How many bytes `copy` operations may add; a few of them double a document each. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024
/** How many values they may add: each is visited three times, and a small one costs as much as a large one. */
const MAX_COPIED_VALUES = 25_000
/** How many items of lists all operations together may shift: each may shift a whole list. */
const MAX_SHIFTED_ITEMS = 200_000_000

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
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(item)} into Go value of type handlers.jsonPatchOp`,
    )
  }
  for (const name of TEXTS) {
    const text = item[name]
    if (text !== undefined && text !== null && typeof text !== 'string') {
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonTypeName(text)} into Go struct field jsonPatchOp.${name} of type string`,
      )
    }
  }
  return item
}

function parseOperations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type []handlers.jsonPatchOp`,
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
