import {messageOf} from '../errors.ts'
import type {RecordChange, RecordStore} from './record-store.ts'

/** How long the last commit counts as proof that the disk accepts writes. */
const CHECK_EVERY = 1_000

export type CommitChange = Omit<RecordChange, 'compacted'>

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

  /** Resolves after the last requested commit, whether it succeeds or not. */
  get ended(): Promise<void> {
    return this.#last
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
