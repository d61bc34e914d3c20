import {messageOf, TrustError} from '../errors.ts'
import {closedError, Feed} from './feed.ts'
import {requireKey} from './keys.ts'
import type {RecordChange, RecordStore, VersionRecord} from './record-store.ts'
import type {Entry, Range, RangeOptions, Storage, StorageEvent, StorageUsage} from './storage.ts'
import type {KeyVersion, LoggedChange, VersionedState} from './versioned-state.ts'
import {WriteQueue} from './write-queue.ts'

/** So much a watch reads from the log at a time. */
const WATCH_BATCH = {count: 500, bytes: 1_024 * 1_024}
/** So many records one commit removes at most, so that writers do not wait long for a compaction. */
const REMOVE_BATCH = 5_000

/** After a failed commit, so often at most it is tried whether the disk takes one again. */
const PROBE_EVERY = 1_000

export interface VersionedStorageOptions {
  /** Revisions still to be removed that an interrupted compaction left. */
  forgotten?: number[]
  /** Gets a line when commits begin to fail, and when they work again. */
  tell?: (line: string) => void
}

/** The Storage that both the memory and the embedded driver are: only where the records lie differs. */
export class VersionedStorage implements Storage {
  readonly #records: RecordStore
  readonly #state: VersionedState
  readonly #feed: Feed
  readonly #writes: WriteQueue
  readonly #tell: (line: string) => void
  #forgotten: number[]
  #lastCommit: Promise<void> = Promise.resolve()
  /** What the last commit failed with. */
  #failure: {error: unknown; at: number} | undefined
  #closing: Promise<void> | undefined

  constructor(
    records: RecordStore,
    state: VersionedState,
    {forgotten = [], tell = () => undefined}: VersionedStorageOptions = {},
  ) {
    this.#records = records
    this.#state = state
    this.#forgotten = forgotten
    this.#tell = tell
    this.#feed = new Feed({read: (prefix, since) => this.#readLog(prefix, since)})
    this.#writes = new WriteQueue({
      revision: () => state.revision,
      entry: (key) => this.#entry(key),
      commit: (events) => this.#commit({put: events.map(toRecord), remove: []}),
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

  async delete(key: string, revision: number): Promise<{previous: Entry; revision: number}> {
    const event = await this.#writes.push({type: 'delete', key, revision})
    return {previous: previousOf(event), revision: event.revision}
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

  watch(prefix: string, since: number, signal: AbortSignal): AsyncIterable<StorageEvent[]> {
    return this.#feed.watch(prefix, since, signal)
  }

  subscribe(
    prefix: string,
    listener: (events: StorageEvent[]) => void,
  ): {revision: number; stop: () => void} {
    this.#requireOpen()
    return {revision: this.#state.revision, stop: this.#feed.subscribe(prefix, listener)}
  }

  revision(): number {
    return this.#state.revision
  }

  usage(): StorageUsage {
    return this.#state.usage
  }

  historyWithin(bytes: number): number {
    return this.#state.historyWithin(bytes)
  }

  async compact(revision: number): Promise<void> {
    this.#requireOpen()
    if (!Number.isSafeInteger(revision) || revision > this.#state.revision) {
      throw new TrustError('INVALID', `revision ${revision} is not there yet`)
    }
    if (revision <= this.#state.compacted) return
    // Forgotten first, removed after: nobody may read a record that is about to go.
    this.#forgotten = this.#forgotten.concat(this.#state.compact(revision))
    do {
      const remove = this.#forgotten.splice(0, REMOVE_BATCH)
      try {
        await this.#commit({put: [], remove})
      } catch (error) {
        this.#forgotten = this.#forgotten.concat(remove)
        throw error
      }
    } while (this.#forgotten.length > 0)
  }

  async check(): Promise<void> {
    if (!this.#failure) return
    const now = performance.now()
    if (now - this.#failure.at < PROBE_EVERY) throw this.#failure.error
    // Whoever asks meanwhile hears of the last failure.
    this.#failure.at = now
    await this.#commit({put: [], remove: []})
  }

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
    await this.#lastCommit
    await this.#records.close()
  }

  /** One commit at a time, in the order asked for. */
  #commit(change: Omit<RecordChange, 'compacted'>): Promise<void> {
    const commit = this.#lastCommit.then(() =>
      this.#records.commit({...change, compacted: this.#state.compacted}),
    )
    this.#lastCommit = commit.then(
      () => this.#succeed(),
      (error: unknown) => this.#fail(error),
    )
    return commit
  }

  #succeed(): void {
    if (this.#failure) this.#tell('the store accepts writes again')
    this.#failure = undefined
  }

  #fail(error: unknown): void {
    if (!this.#failure) this.#tell(`error: ${messageOf(error)}; until it can, writes are refused`)
    this.#failure = {error, at: performance.now()}
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

  #readLog(prefix: string, since: number): {events: StorageEvent[]; through: number} {
    const {changes, through} = this.#state.changes(prefix, since, WATCH_BATCH)
    return {events: changes.map((change) => this.#toEvent(change)), through}
  }

  #toEvent({key, version, previous}: LoggedChange): StorageEvent {
    const {revision, created} = version
    return {
      type: created ? 'put' : 'delete',
      key,
      revision,
      ...(created ? {entry: this.#load({key, version})} : {}),
      ...(previous ? {previous: this.#load({key, version: previous})} : {}),
    }
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

function previousOf({previous}: StorageEvent): Entry {
  if (!previous) throw new TrustError('INTERNAL', 'a deletion ended without what it deleted')
  return previous
}

/** The caller may change its bytes while the write waits. */
function copy(value: Uint8Array): Uint8Array {
  return new Uint8Array(value)
}

/** A promise of work done at once; what it throws is a rejection. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}
