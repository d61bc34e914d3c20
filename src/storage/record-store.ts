/** One change of one key, as a driver keeps it. A deletion has neither value nor `created`. */
export interface VersionRecord {
  revision: number
  key: string
  /** The revision the key was created at; 0 for a deletion. */
  created: number
  value?: Uint8Array
}

export interface RecordChange {
  put: VersionRecord[]
  /** Revisions whose records are not needed any more. */
  remove: number[]
  /** The history up to and including this revision is dropped. */
  compacted: number
}

/**
 * What a driver provides: records by revision, changed in atomic and durable commits. A record never changes once it is
 * written, so a reader needs no snapshot: whatever is committed in the meantime, the record of a known revision stays as it is.
 */
export interface RecordStore {
  /** The value written at this revision. Only called for revisions that have one. */
  value(revision: number): Uint8Array
  /**
   * Writes all of the change or nothing; resolves when it is on the disk. Only one commit runs at a time. If it rejects,
   * nothing was written, and the next commit may succeed. An empty commit shows whether the disk accepts writes.
   */
  commit(change: RecordChange): Promise<void>
  size(): Promise<number>
  close(): Promise<void>
}
