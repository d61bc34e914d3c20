import {compareKeys} from '../../storage/keys.ts'

const BUCKET = 512

/**
 * Keys in the order of their bytes, as in the store. Short sorted arrays in one array keep inserts and deletes cheap,
 * however many keys there are.
 */
export class SortedKeys {
  readonly #buckets: string[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  add(key: string): void {
    const index = this.#bucketFor(key)
    const bucket = this.#buckets[index]
    if (bucket === undefined) {
      this.#buckets.push([key])
      this.#size = 1
      return
    }
    const at = lowerBound(bucket, key)
    if (bucket[at] === key) return
    bucket.splice(at, 0, key)
    this.#size++
    if (bucket.length > BUCKET * 2) this.#buckets.splice(index + 1, 0, bucket.splice(BUCKET))
  }

  delete(key: string): void {
    const index = this.#bucketFor(key)
    const bucket = this.#buckets[index]
    if (bucket === undefined) return
    const at = lowerBound(bucket, key)
    if (bucket[at] !== key) return
    bucket.splice(at, 1)
    this.#size--
    if (bucket.length === 0) this.#buckets.splice(index, 1)
  }

  /** The keys that begin with the prefix and come after `after`. */
  *range(prefix: string, after = ''): Generator<string> {
    const start = compareKeys(after, prefix) >= 0 ? after : prefix
    for (let index = this.#bucketFor(start); index < this.#buckets.length; index++) {
      const bucket = this.#buckets[index] ?? []
      for (let at = lowerBound(bucket, start); at < bucket.length; at++) {
        const key = bucket[at] ?? ''
        if (key === after && after !== '') continue
        // Keys with a prefix are adjacent, and the start is never before the first of them.
        if (!key.startsWith(prefix)) return
        yield key
      }
    }
  }

  /** How many keys `range` would return, without visiting them. */
  count(prefix: string, after = ''): number {
    const until = this.#countWhile((key) => key.startsWith(prefix) || compareKeys(key, prefix) < 0)
    const skipped = this.#countWhile(
      (key) => compareKeys(key, prefix) < 0 || compareKeys(key, after) <= 0,
    )
    return Math.max(0, until - skipped)
  }

  /** How many keys come before the first one for which the predicate is false. */
  #countWhile(holds: (key: string) => boolean): number {
    const last = partition(this.#buckets, ([first = '']) => holds(first)) - 1
    let count = partition(this.#buckets[last] ?? [], holds)
    for (let index = 0; index < last; index++) count += this.#buckets[index]?.length ?? 0
    return count
  }

  /** The last bucket whose first key is not above this one. */
  #bucketFor(key: string): number {
    return Math.max(0, partition(this.#buckets, ([first = '']) => compareKeys(first, key) <= 0) - 1)
  }
}

const lowerBound = (sorted: string[], key: string) =>
  partition(sorted, (one) => compareKeys(one, key) < 0)

/** The index of the first item for which the predicate is false; all items before it are true. */
function partition<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
