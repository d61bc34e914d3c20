import {TrustError, hasCode} from '../errors.ts'
import type {
  Entry,
  PastEvent,
  Range,
  RangeOptions,
  Storage,
  StorageEvent,
  Subscriber,
} from './storage.ts'
import {compactedError, FIRST_REVISION} from './versioned-state.ts'

/**
 * A store whose revisions are all higher by an offset. The revisions of etcd cannot be set: one that continues another store has the
 * last revision of that store as its offset, so that clients never see a revision twice. What was before counts as compacted.
 */
export class ShiftedStorage implements Storage {
  readonly #inner: Storage
  readonly #offset: number

  get isShared(): boolean {
    return this.#inner.isShared === true
  }

  constructor(inner: Storage, offset: number) {
    this.#inner = inner
    this.#offset = offset
  }

  async create(key: string, value: Uint8Array): Promise<Entry> {
    return this.#entry(await this.#inner.create(key, value))
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<Entry> {
    return this.#told(async () =>
      this.#entry(await this.#inner.update(key, value, this.#keyRevision(revision))),
    )
  }

  async delete(key: string, revision: number): Promise<{revision: number}> {
    return this.#told(async () => {
      const deleted = await this.#inner.delete(key, this.#keyRevision(revision))
      return {revision: deleted.revision + this.#offset}
    })
  }

  async get(key: string): Promise<Entry | undefined> {
    const entry = await this.#inner.get(key)
    return entry && this.#entry(entry)
  }

  async list(prefix: string, options: RangeOptions = {}): Promise<Range> {
    const {revision, ...others} = options
    if (revision !== undefined && revision <= this.#offset) throw compactedError(this.#offset)
    const range = await this.#inner.list(prefix, {
      ...others,
      ...(revision !== undefined && {revision: revision - this.#offset}),
    })
    return {
      entries: range.entries.map((entry) => this.#entry(entry)),
      revision: range.revision + this.#offset,
      remaining: range.remaining,
    }
  }

  async revision(): Promise<number> {
    return (await this.#inner.revision()) + this.#offset
  }

  async *history(
    prefix: string,
    since: number,
    until: number,
    signal: AbortSignal,
  ): AsyncGenerator<PastEvent[]> {
    if (since <= this.#offset) throw compactedError(this.#offset)
    const [from, to] = [since - this.#offset, until - this.#offset]
    for await (const events of this.#inner.history(prefix, from, to, signal))
      yield events.map(({previous, ...event}) => ({
        ...this.#event(event),
        ...(previous && {previous: this.#entry(previous)}),
      }))
  }

  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void {
    if (since <= this.#offset) return loseSoon(subscriber)
    return this.#inner.subscribe(prefix, since - this.#offset, {
      advance: (revision, events) =>
        subscriber.advance(
          revision + this.#offset,
          events.map((event) => this.#event(event)),
        ),
      lost: () => subscriber.lost(),
    })
  }

  check(): Promise<void> {
    return this.#inner.check()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** No key is at the first revision: one from before the offset is never that of a key. */
  #keyRevision(revision: number): number {
    return Math.max(FIRST_REVISION, revision - this.#offset)
  }

  #entry(entry: Entry): Entry {
    const {revision, created} = entry
    return {...entry, revision: revision + this.#offset, created: created + this.#offset}
  }

  #event({entry, ...event}: StorageEvent): StorageEvent {
    const revision = event.revision + this.#offset
    return {...event, revision, ...(entry && {entry: this.#entry(entry)})}
  }

  /** A conflict names the revision that the key has. */
  async #told<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write()
    } catch (error) {
      if (!hasCode(error, 'CONFLICT') || typeof error.facts.revision !== 'number') throw error
      const revision = error.facts.revision + this.#offset
      throw new TrustError('CONFLICT', `the key is at revision ${revision}`, {
        cause: error,
        facts: {revision},
      })
    }
  }
}

/** Not before the caller has its function to stop. */
function loseSoon(subscriber: Subscriber): () => void {
  let isStopped = false
  queueMicrotask(() => {
    if (!isStopped) subscriber.lost()
  })
  return () => {
    isStopped = true
  }
}
