import {TrustError} from '../errors.ts'

/** A namespaced Kubernetes name needs about 600 bytes; the bound keeps the index in memory small. */
const MAX_KEY_BYTES = 1_978

const FIRST_SURROGATE = 0xd800
const AFTER_SURROGATES = 0xe000
const LONE_SURROGATE = /\p{Surrogate}/u

/** Orders keys by their UTF-8 bytes, as etcd does. Comparing strings with `<` orders by UTF-16 units. */
export function compareKeys(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = left.charCodeAt(index) - right.charCodeAt(index)
    if (difference === 0) continue
    return byteRank(left.charCodeAt(index)) - byteRank(right.charCodeAt(index))
  }
  return left.length - right.length
}

/** Surrogates stand for U+10000 and above, whose bytes sort after those of U+E000 to U+FFFF. */
function byteRank(unit: number): number {
  if (unit < FIRST_SURROGATE) return unit
  return unit < AFTER_SURROGATES ? unit + 0x10000 : unit
}

/** Refuses invalid keys: empty, too long, or text that is not valid Unicode. */
export function requireKey(key: string): void {
  if (key === '') throw new TrustError('INVALID', 'a key in the store must not be empty')
  if (key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new TrustError('INVALID', `a key in the store has at most ${MAX_KEY_BYTES} bytes`)
  }
  if (LONE_SURROGATE.test(key)) {
    throw new TrustError('INVALID', 'a key in the store must be well-formed Unicode')
  }
}

const CHUNK = 256

/**
 * Items by key, and in the order of their keys. The order is kept in short sorted chunks, so that adding
 * one key moves at most a chunk, however many keys there are.
 */
export class KeyIndex<Item extends {key: string}> {
  readonly #byKey = new Map<string, Item>()
  readonly #chunks: Item[][] = []

  get(key: string): Item | undefined {
    return this.#byKey.get(key)
  }

  add(item: Item): void {
    this.#byKey.set(item.key, item)
    const at = this.#chunkOf(item.key)
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([item])
      return
    }
    chunk.splice(firstAtOrAfter(chunk, item.key), 0, item)
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2))
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]
    if (!chunk) return
    chunk.splice(firstAtOrAfter(chunk, key), 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** Every item whose key starts with the prefix and comes after `after`. */
  *range(prefix: string, after?: string): Generator<Item> {
    const start = after !== undefined && compareKeys(after, prefix) > 0 ? after : prefix
    let from: number | undefined
    for (let at = this.#chunkOf(start); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] ?? []
      from = from === undefined ? firstAtOrAfter(chunk, start) : 0
      for (const item of from > 0 ? chunk.slice(from) : chunk) {
        if (item.key === after) continue
        // Keys with a prefix are adjacent, and the start is never before the first of them.
        if (!item.key.startsWith(prefix)) return
        yield item
      }
    }
  }

  /** The last chunk that starts at or before the key: the one that holds it, or where it belongs. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      const first = this.#chunks[middle]?.[0]
      if (first && compareKeys(first.key, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }
}

function firstAtOrAfter(chunk: {key: string}[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = chunk[middle]
    if (item && compareKeys(item.key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
