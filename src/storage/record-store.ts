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
  /** The history up to and with this revision is gone. */
  compacted: number
}

/**
 * What a driver provides: records by revision, changed in atomic and durable commits. A record never changes once it is
 * written, so a reader needs no snapshot: whatever is committed in the meantime, the record of a known revision stays as it is.
 */
export interface RecordStore {
  /** The value written at this revision. Only asked for revisions that hold one. */
  value(revision: number): Uint8Array
  /**
   * All of the change or nothing of it; resolves when it is on the disk. Only one commit runs at a time. Where it
   * rejects, nothing of the change is there, and the next commit may succeed. A commit of nothing shows whether the disk
   * takes one.
   */
  commit(change: RecordChange): Promise<void>
  size(): Promise<number>
  close(): Promise<void>
}
