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
  /** What the key held before; absent for a creation. */
  previous?: Entry
}

export interface RangeOptions {
  /** At most so many entries. */
  limit?: number
  /** No more entries once their values take so many bytes; the first one comes however large it is. */
  bytes?: number
  /** Only keys after this one, in byte order. */
  after?: string
  /** The state as of this revision; the newest where absent. Throws STORE_COMPACTED where it is gone, INVALID where it is to come. */
  revision?: number
}

export interface Range {
  entries: Entry[]
  /** The revision that the range was read at. */
  revision: number
  /** How many entries stand behind the last one returned. */
  remaining: number
}

/** How many bytes the values take: the newest of every key, and those that are kept as history only. */
export interface StorageUsage {
  live: number
  history: number
}

/**
 * One revision counter for all keys, which never goes back; keys are ordered by their bytes.
 * An acknowledged write is on the disk. Writes arriving together share one commit.
 * By the time a write resolves, its event has been handed to every watch.
 */
export interface Storage {
  /** Throws ALREADY_EXISTS where the key is there. */
  create(key: string, value: Uint8Array): Promise<Entry>
  /** Throws CONFLICT where the key's revision is another one, NOT_FOUND where the key is not there. */
  update(key: string, value: Uint8Array, revision: number): Promise<Entry>
  /** As update. Answers what was deleted and the deletion's revision. */
  delete(key: string, revision: number): Promise<{previous: Entry; revision: number}>
  get(key: string): Promise<Entry | undefined>
  list(prefix: string, options?: RangeOptions): Promise<Range>
  /**
   * Every change under the prefix with a revision above `since`, in order, with no gap and no repeat, until the signal.
   * Changes that stand in one commit may come in one batch. Throws STORE_COMPACTED where `since` is below the compacted revision.
   */
  watch(prefix: string, since: number, signal: AbortSignal): AsyncIterable<StorageEvent[]>
  /**
   * The same, called back in the order of the commits and before the write resolves: what the server's memory is fed by.
   * Answers the revision it starts after, and how to stop.
   */
  subscribe(
    prefix: string,
    listener: (events: StorageEvent[]) => void,
  ): {revision: number; stop: () => void}
  /** The newest revision. */
  revision(): number
  /** Forgets the history up to and with this revision; the newest state of every key stays. */
  compact(revision: number): Promise<void>
  /** Throws where the last commit failed and the disk still takes none. Tries again at most once a second. */
  check(): Promise<void>
  usage(): StorageUsage
  /** The revision to compact at, so that the history takes at most so many bytes; 0 if it does already. */
  historyWithin(bytes: number): number
  /** Bytes on disk, where the driver knows. */
  size(): Promise<number>
  /** Lets every accepted write finish, then releases the files. */
  close(): Promise<void>
}
