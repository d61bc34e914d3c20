import {compareKeys} from '../../storage/keys.ts'

const BUCKET = 512

/** Keys in the order of their bytes, as the store has them, with inserts and deletes whose cost hardly grows: short sorted arrays in one array. */
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
        // Keys under a prefix stand together, and the start is never before the first of them.
        if (!key.startsWith(prefix)) return
        yield key
      }
    }
  }

  /** The last bucket whose first key is not above this one. */
  #bucketFor(key: string): number {
    let low = 0
    let high = this.#buckets.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (compareKeys(this.#buckets[middle]?.[0] ?? '', key) <= 0) low = middle
      else high = middle - 1
    }
    return low
  }
}

function lowerBound(sorted: string[], key: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(sorted[middle] ?? '', key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
