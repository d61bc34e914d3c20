import {messageOf} from '../errors.ts'

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

/** How long the last commit counts as proof that the disk accepts writes. */
const CHECK_EVERY = 1_000

type CommitChange = Omit<RecordChange, 'compacted'>

const NOTHING: CommitChange = {put: [], remove: []}

/** Commits, one at a time and in the order asked for, and how the last one ended. */
export class Commits {
  readonly #commit: (change: CommitChange) => Promise<void>
  readonly #tell: (line: string) => void
  #last: Promise<void> = Promise.resolve()
  #outcome: {at: number; error?: unknown} = {at: -Infinity}
  #checking: Promise<void> | undefined

  constructor(
    records: Pick<RecordStore, 'commit'>,
    compacted: () => number,
    tell: (line: string) => void,
  ) {
    this.#commit = (change) => records.commit({...change, compacted: compacted()})
    this.#tell = tell
  }

  /** Resolves after the last requested commit, whether it succeeds or not, and after the check that it may cause. */
  async end(): Promise<void> {
    for (let last: Promise<void> | undefined; last !== this.#last;) await (last = this.#last)
  }

  commit(change: CommitChange): Promise<void> {
    const commit = this.#last.then(() => this.#commit(change))
    this.#last = commit.then(
      () => this.#succeed(change),
      (error: unknown) => this.#fail(error),
    )
    return commit
  }

  /**
   * Throws if the disk accepts no commit. If there was no recent one, all callers share an empty commit, however long it
   * takes.
   */
  async check(): Promise<void> {
    if (performance.now() - this.#outcome.at >= CHECK_EVERY) {
      this.#checking ??= this.commit(NOTHING).finally(() => (this.#checking = undefined))
      await this.#checking
    } else if (this.#outcome.error !== undefined) throw this.#outcome.error as Error
  }

  #succeed(change: CommitChange): void {
    if (this.#outcome.error !== undefined) {
      // A small commit may fit where a larger one did not: only the commit of a check ends a failure.
      if (change !== NOTHING) return void this.check().catch(() => undefined)
      this.#tell('the store accepts writes again')
    }
    this.#outcome = {at: performance.now()}
  }

  #fail(error: unknown): void {
    if (this.#outcome.error === undefined)
      this.#tell(`error: ${messageOf(error)}; until it can, writes are refused`)
    this.#outcome = {at: performance.now(), error}
  }
}
