/** A stored value with the revision of its last write and of its creation. */
export interface Entry {
  key: string
  value: Uint8Array
  revision: number
  created: number
}

export interface StorageEvent {
  type: 'put' | 'delete'
  key: string
  /** The revision of this very change. */
  revision: number
  /** The entry written; absent for a deletion. */
  entry?: Entry
}

/** A change as history tells it. A subscriber has seen what was there before, so it is not read again for each write. */
export interface PastEvent extends StorageEvent {
  /** What the key held before; absent for a creation. */
  previous?: Entry
}

export interface RangeOptions {
  /** The most entries. */
  limit?: number
  /** No more entries once their values take this many bytes; the first one is always included. */
  bytes?: number
  /** Only keys after this one, in byte order. */
  after?: string
  /** The state as of this revision, by default the newest. Throws STORE_COMPACTED if it is gone, INVALID if it has not been reached. */
  revision?: number
}

export interface Range {
  entries: Entry[]
  /** The revision that the range was read at. */
  revision: number
  /** How many entries follow the last one returned. */
  remaining: number
}

/** How many bytes the values take: the newest of every key, and those that are only history. */
export interface StorageUsage {
  live: number
  history: number
}

/** A subscriber to the changes under a prefix. */
export interface Subscriber {
  /**
   * The next changes, in the order of their revisions, with no gap and no repeat. There are no others up to `revision`; `events` is
   * empty if only other keys have changed.
   */
  advance(revision: number, events: StorageEvent[]): void
  /**
   * Changes after the last `advance` were lost, and the subscription has ended. To start again, list the keys and subscribe from the
   * revision of that list.
   */
  lost(): void
}

/**
 * Keys with their values and history, which other processes may write too, beside keys of other programs. Every change has a revision
 * of its own. Revisions only grow and may have gaps; keys are ordered by their bytes. An acknowledged write is on the disk, and has been
 * handed to the subscribers of this process that have not lost events.
 */
export interface Storage {
  /** Other processes may write to it, and it may be out of reach. */
  readonly isShared?: boolean
  /** Throws ALREADY_EXISTS if the key exists. */
  create(key: string, value: Uint8Array): Promise<Entry>
  /** Throws CONFLICT if the key's revision is another one, NOT_FOUND if the key does not exist. */
  update(key: string, value: Uint8Array, revision: number): Promise<Entry>
  /** As update. Returns the deletion's revision. */
  delete(key: string, revision: number): Promise<{revision: number}>
  /** The newest entry, also if another process has just written it. */
  get(key: string): Promise<Entry | undefined>
  list(prefix: string, options?: RangeOptions): Promise<Range>
  /**
   * A revision that includes every write acknowledged before this call, whichever process made it. Subscribers reach it soon, also if
   * nothing under their prefix changes.
   */
  revision(): Promise<number>
  /**
   * The changes under the prefix above `since` and up to `until`, which must have been reached, in order and in batches that are read
   * as they are asked for. Throws STORE_COMPACTED if `since` is below the compacted revision.
   */
  history(
    prefix: string,
    since: number,
    until: number,
    signal: AbortSignal,
  ): AsyncIterable<PastEvent[]>
  /**
   * Follows the changes under the prefix above `since`. Returns a function that stops it. `lost` is never called before this
   * has returned.
   */
  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void
  /** Throws if the store does not accept writes at present. Writes something to find out, but not more than once a second. */
  check(): Promise<void>
  /** Absent if the driver cannot tell. */
  usage?(): StorageUsage
  /** Lets every accepted write finish, then releases the files. */
  close(): Promise<void>
}
