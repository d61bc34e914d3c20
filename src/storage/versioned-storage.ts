import {setImmediate as nextTurn} from 'node:timers/promises'
import {TrustError} from '../errors.ts'
import {Commits, type RecordStore, type VersionRecord} from './record-store.ts'
import {closedError, Feed} from './feed.ts'
import {HeldRevisions, type HeldRevision} from './held-revisions.ts'
import {requireKey} from './keys.ts'
import type {
  Entry,
  PastEvent,
  Range,
  RangeOptions,
  Storage,
  StorageEvent,
  StorageUsage,
  Subscriber,
} from './storage.ts'
import type {KeyVersion, LoggedChange, VersionedState} from './versioned-state.ts'
import {WriteQueue} from './writes.ts'

/** How much is read from the log at a time. */
const LOG_BATCH = {count: 500, bytes: 1_024 * 1_024}
/** The most records that one commit removes, so that writers do not wait long for a compaction. */
const REMOVE_BATCH = 5_000

export interface VersionedStorageOptions {
  /** Revisions still to be removed that an interrupted compaction left. */
  forgotten?: number[]
  /** Called with a line when commits begin to fail, and when they work again. */
  tell?: (line: string) => void
}

/** The Storage of both the memory and the embedded driver: only the location of the records differs. */
export class VersionedStorage implements Storage {
  readonly #records: RecordStore
  readonly #state: VersionedState
  readonly #feed: Feed
  readonly #writes: WriteQueue
  readonly #commits: Commits
  readonly #held = new HeldRevisions()
  /** The revisions still to be removed, the oldest first. */
  #forgotten: number[]
  #removal: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(
    records: RecordStore,
    state: VersionedState,
    {forgotten = [], tell = () => undefined}: VersionedStorageOptions = {},
  ) {
    this.#records = records
    this.#state = state
    this.#forgotten = ordered(forgotten)
    this.#commits = new Commits(records, () => state.compacted, tell)
    this.#feed = new Feed({
      read: (prefix, since) => {
        const {changes, through} = state.changes(prefix, since, LOG_BATCH)
        return {events: changes.map((change) => this.#toEvent(change)), through}
      },
    })
    this.#writes = new WriteQueue({
      revision: () => state.revision,
      newest: (key) => state.newest(key),
      commit: (events) => this.#commits.commit({put: events.map(toRecord), remove: []}),
      publish: (events) => this.#publish(events),
    })
  }

  async create(key: string, value: Uint8Array): Promise<Entry> {
    requireKey(key)
    return entryOf(await this.#writes.push({type: 'create', key, value: copy(value)}))
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<Entry> {
    requireKey(key)
    return entryOf(await this.#writes.push({type: 'update', key, value: copy(value), revision}))
  }

  async delete(key: string, revision: number): Promise<{revision: number}> {
    const event = await this.#writes.push({type: 'delete', key, revision})
    return {revision: event.revision}
  }

  get(key: string): Promise<Entry | undefined> {
    return promised(() => {
      this.#requireOpen()
      return this.#entry(key)
    })
  }

  list(prefix: string, options: RangeOptions = {}): Promise<Range> {
    return promised(() => {
      this.#requireOpen()
      const {entries, revision, remaining} = this.#state.range(prefix, options)
      return {entries: entries.map((entry) => this.#load(entry)), revision, remaining}
    })
  }

  revision(): Promise<number> {
    return promised(() => {
      this.#requireOpen()
      return this.#state.revision
    })
  }

  async *history(
    prefix: string,
    since: number,
    until: number,
    signal: AbortSignal,
  ): AsyncGenerator<PastEvent[]> {
    for (let position = since; position < until && !signal.aborted;) {
      this.#requireOpen()
      const {changes, through} = this.#state.changes(prefix, position, LOG_BATCH)
      const wanted = changes.filter(({version}) => version.revision <= until)
      if (wanted.length > 0) yield wanted.map((change) => this.#toPastEvent(change))
      if (through === position) return
      position = through
      await nextTurn()
    }
  }

  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void {
    this.#requireOpen()
    return this.#feed.subscribe(prefix, since, subscriber)
  }

  usage(): StorageUsage {
    return this.#state.usage
  }

  /** The revision to compact at, so that the history takes at most this many bytes; 0 if it already does. */
  historyWithin(bytes: number): number {
    return this.#state.historyWithin(bytes)
  }

  /** Forgets the history up to and including this revision; the newest state of every key stays. */
  async compact(revision: number): Promise<void> {
    this.#requireOpen()
    if (!Number.isSafeInteger(revision) || revision > this.#state.revision) {
      throw new TrustError('INVALID', `revision ${revision} is not there yet`)
    }
    const {revision: newest, usage, compacted} = this.#state
    const target = this.#held.allowed(revision, {newest, history: usage.history})
    if (target <= compacted) return
    // Dropped from the index first, removed afterwards: nobody may read a record that is about to be removed.
    this.#forgotten = ordered([...this.#forgotten, ...this.#state.compact(target)])
    const removal = this.#removal.then(() => this.#removeForgotten())
    this.#removal = removal.catch(() => undefined)
    await removal
  }

  /**
   * By revision and one commit after the other, also after a failure: a deletion that went before the write that it deleted would bring
   * the key back at the next start.
   */
  async #removeForgotten(): Promise<void> {
    while (!this.#closing) {
      const remove = this.#forgotten.slice(0, REMOVE_BATCH)
      await this.#commits.commit({put: [], remove})
      const removed = new Set(remove)
      this.#forgotten = this.#forgotten.filter((revision) => !removed.has(revision))
      if (this.#forgotten.length === 0) return
    }
  }

  /**
   * Keeps the current revision readable until it is released, for a reader that takes its time. Beyond a limit the history is dropped
   * anyway, and the reader gets STORE_COMPACTED.
   */
  hold(): HeldRevision {
    this.#requireOpen()
    return this.#held.hold(this.#state.revision)
  }

  async check(): Promise<void> {
    this.#requireOpen()
    await this.#commits.check()
  }

  /** Bytes on disk. */
  size(): Promise<number> {
    return this.#records.size()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#writes.close()
    this.#feed.close()
    await this.#commits.end()
    await this.#records.close()
  }

  #publish(events: StorageEvent[]): void {
    for (const {key, revision, entry} of events) {
      const bytes = entry?.value.length ?? 0
      this.#state.apply(key, {revision, created: entry?.created ?? 0, bytes})
    }
    this.#feed.publish(events)
  }

  #entry(key: string): Entry | undefined {
    const version = this.#state.newest(key)
    return version && this.#load({key, version})
  }

  #load({key, version: {revision, created}}: KeyVersion): Entry {
    return {key, value: this.#records.value(revision), revision, created}
  }

  #toEvent({key, version}: KeyVersion): StorageEvent {
    const {revision, created} = version
    return created
      ? {type: 'put', key, revision, entry: this.#load({key, version})}
      : {type: 'delete', key, revision}
  }

  #toPastEvent(change: LoggedChange): PastEvent {
    const {key, previous} = change
    const event = this.#toEvent(change)
    return previous ? {...event, previous: this.#load({key, version: previous})} : event
  }

  #requireOpen(): void {
    if (this.#closing) throw closedError()
  }
}

function toRecord({key, revision, entry}: StorageEvent): VersionRecord {
  return entry
    ? {revision, key, created: entry.created, value: entry.value}
    : {revision, key, created: 0}
}

function entryOf({entry}: StorageEvent): Entry {
  if (!entry) throw new TrustError('INTERNAL', 'a write ended without an entry')
  return entry
}

const ordered = (revisions: number[]): number[] => revisions.sort((one, other) => one - other)

/** The caller may change its bytes while the write waits. */
function copy(value: Uint8Array): Uint8Array {
  return new Uint8Array(value)
}

/** Runs work at once and returns a promise; an error becomes a rejection. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}
