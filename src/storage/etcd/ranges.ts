import type {Entry, Range, RangeOptions} from '../storage.ts'
import type {Gateway} from './gateway.ts'
import {numberOf, revisionOf, type EtcdKeys, type WireRange} from './messages.ts'

const FIRST_PAGE = 32
const LARGEST_PAGE = 2_000
/** What a page should take, */
const PAGE_BYTES = 4 * 1_024 * 1_024
/** and what it takes if all of its entries are as large as the largest so far. */
const MOST_BYTES = 32 * 1_024 * 1_024
/** After so many pages of a size that was not too much, twice as many entries are asked for again. */
const PAGES_BEFORE_MORE = 32
/** How many lists that are read in parts are remembered. */
const MOST_PARTS = 64

/**
 * How many entries to ask for at a time. etcd limits a range by their number only, so the number follows from the sizes seen in the very
 * same list: those of another list say nothing about this one.
 */
class PageSize {
  #entries = FIRST_PAGE
  #most = LARGEST_PAGE
  #largest = 1
  /** How many pages have come since the last one that was too much. */
  #pages = 0

  get entries(): number {
    return this.#entries
  }

  /**
   * A page of more entries was too much for somebody, so that the next ones are no larger. But it may only have been a member that was
   * away: a long list must not come entry by entry for that.
   */
  limit(entries: number): void {
    this.#most = Math.min(this.#most, entries)
    this.#pages = 0
  }

  learn(page: readonly Entry[]): void {
    if (page.length === 0) return
    this.#pages += 1
    if (this.#pages % PAGES_BEFORE_MORE === 0) this.#most = Math.min(this.#most * 2, LARGEST_PAGE)
    const sizes = page.map(({key, value}) => key.length + value.length)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    this.#largest = Math.max(this.#largest, ...sizes)
    const fitting = Math.min((PAGE_BYTES * page.length) / bytes, MOST_BYTES / this.#largest)
    // Grows step by step: the next ones may be larger than these.
    const next = Math.min(Math.floor(fitting), this.#entries * 4, this.#most)
    this.#entries = Math.max(1, next)
  }
}

/** Lists of etcd, page by page at one revision, bounded by bytes as well as by number. */
export class Ranges {
  readonly #gateway: Pick<Gateway, 'call'>
  readonly #keys: EtcdKeys
  /** Of lists whose next part may be asked for, by the prefix and the last key. */
  readonly #parts = new Map<string, PageSize>()

  constructor(gateway: Pick<Gateway, 'call'>, keys: EtcdKeys) {
    this.#gateway = gateway
    this.#keys = keys
  }

  async get(key: string): Promise<Entry | undefined> {
    const {kvs} = await this.#gateway.call<WireRange>('kv/range', {key: this.#keys.encode(key)})
    return kvs?.[0] && this.#keys.entry(kvs[0])
  }

  async list(prefix: string, options: RangeOptions = {}): Promise<Range> {
    const {limit = Infinity, bytes = Infinity} = options
    const entries: Entry[] = []
    const size = this.#sizeFor(prefix, options.after)
    let {after, revision = 0} = options
    let taken = 0
    for (;;) {
      const left = Math.min(size.entries, limit - entries.length)
      const range = {...this.#keys.range(prefix, after), revision: String(revision)}
      const answer = await this.#read(range, left, size)
      revision ||= revisionOf(answer)
      const page = (answer.kvs ?? []).map((wire) => this.#keys.entry(wire))
      size.learn(page)
      let used = 0
      for (const entry of left > 0 ? page : []) {
        taken += entry.value.length
        if (entries.length > 0 && taken > bytes) break
        entries.push(entry)
        used += 1
      }
      const remaining = numberOf(answer.count) - used
      after = entries.at(-1)?.key
      if (remaining === 0) return {entries, revision, remaining}
      if (used === page.length && entries.length < limit) continue
      if (after !== undefined) this.#remember(partOf(prefix, after), size)
      return {entries, revision, remaining}
    }
  }

  #sizeFor(prefix: string, after: string | undefined): PageSize {
    const part = partOf(prefix, after)
    const size = this.#parts.get(part) ?? new PageSize()
    this.#parts.delete(part)
    return size
  }

  #remember(part: string, size: PageSize): void {
    this.#parts.set(part, size)
    const [oldest = ''] = this.#parts.keys()
    if (this.#parts.size > MOST_PARTS) this.#parts.delete(oldest)
  }

  /** What may have been too much is asked for again by a quarter: four attempts take as long as etcd is given, and must be enough. */
  #read(range: object, most: number, size: PageSize): Promise<WireRange> {
    return this.#gateway.call<WireRange>('kv/range', (tooMuch) => {
      // 0 would be no limit.
      const limit = Math.max(1, Math.floor(most / 4 ** tooMuch))
      if (tooMuch > 0) size.limit(limit)
      return {...range, limit: String(limit)}
    })
  }
}

const partOf = (prefix: string, after = ''): string => JSON.stringify([prefix, after])
