import type {Entry, Range, RangeOptions} from '../storage.ts'
import type {Gateway} from './gateway.ts'
import {numberOf, revisionOf, type EtcdKeys, type WireRange} from './messages.ts'

/** etcd limits a range by its number of entries only, so the number follows from the sizes seen so far. */
const FIRST_PAGE = 32
const LARGEST_PAGE = 2_000
const PAGE_BYTES = 4 * 1_024 * 1_024

/** Lists of etcd, page by page at one revision, bounded by bytes as well as by number. */
export class Ranges {
  readonly #gateway: Gateway
  readonly #keys: EtcdKeys
  #page = FIRST_PAGE

  constructor(gateway: Gateway, keys: EtcdKeys) {
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
    let {after, revision = 0} = options
    let size = 0
    for (;;) {
      const left = Math.min(this.#page, limit - entries.length)
      const answer = await this.#read(prefix, after, revision, left)
      revision ||= revisionOf(answer)
      const page = (answer.kvs ?? []).map((wire) => this.#keys.entry(wire))
      this.#adapt(page)
      let taken = 0
      for (const entry of left > 0 ? page : []) {
        size += entry.value.length
        if (entries.length > 0 && size > bytes) break
        entries.push(entry)
        taken += 1
      }
      const remaining = numberOf(answer.count) - taken
      if (remaining === 0 || taken < page.length || entries.length >= limit)
        return {entries, revision, remaining}
      after = entries.at(-1)?.key
    }
  }

  #read(
    prefix: string,
    after: string | undefined,
    revision: number,
    limit: number,
  ): Promise<WireRange> {
    return this.#gateway.call<WireRange>('kv/range', {
      ...this.#keys.range(prefix, after),
      // 0 would be no limit.
      limit: String(Math.max(1, limit)),
      revision: String(revision),
    })
  }

  #adapt(page: Entry[]): void {
    if (page.length === 0) return
    const bytes = page.reduce((sum, {key, value}) => sum + key.length + value.length, 0)
    const fitting = Math.floor(PAGE_BYTES / (bytes / page.length))
    // Grows step by step: the next ones may be larger than these.
    this.#page = Math.max(1, Math.min(fitting, this.#page * 4, LARGEST_PAGE))
  }
}
