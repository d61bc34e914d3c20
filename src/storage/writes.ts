import {TrustError} from '../errors.ts'
import {closedError} from './feed.ts'
import type {StorageEvent} from './storage.ts'
import type {Version} from './versioned-state.ts'

/** A write that waits for a commit. */
export type Write =
  | {type: 'create'; key: string; value: Uint8Array}
  | {type: 'update'; key: string; value: Uint8Array; revision: number}
  | {type: 'delete'; key: string; revision: number}

/** What a decision needs to know of a key; its value is not read. */
type KeyState = Pick<Version, 'created' | 'revision'>

/** The result of a write at this revision, given the current version of its key; throws if the write is not allowed. */
export function decide(
  write: Write,
  previous: KeyState | undefined,
  revision: number,
): StorageEvent {
  const {key} = write
  if (write.type === 'create') {
    if (previous) throw new TrustError('ALREADY_EXISTS', `the key "${key}" is there already`)
    const entry = {key, value: write.value, revision, created: revision}
    return {type: 'put', key, revision, entry}
  }
  if (!previous) throw new TrustError('NOT_FOUND', `there is no key "${key}"`)
  if (previous.revision !== write.revision) {
    throw new TrustError(
      'CONFLICT',
      `the key "${key}" is at revision ${previous.revision}, not ${write.revision}`,
      {facts: {revision: previous.revision}},
    )
  }
  if (write.type === 'delete') return {type: 'delete', key, revision}
  const entry = {key, value: write.value, revision, created: previous.created}
  return {type: 'put', key, revision, entry}
}

/** Bounds what one commit holds in memory and how long the writers behind it wait. */
const MOST_WRITES = 4_096
const MOST_BYTES = 16 * 1_024 * 1_024

/** What the queue writes to. */
interface Committer {
  /** The newest committed revision. */
  revision(): number
  /** The version of a key in the newest commit. */
  newest(key: string): KeyState | undefined
  /** Makes the changes durable, all or none. */
  commit(events: StorageEvent[]): Promise<void>
  /** Makes committed changes visible and notifies the subscribers. */
  publish(events: StorageEvent[]): void
}

interface Waiting {
  write: Write
  resolve: (event: StorageEvent) => void
  reject: (error: unknown) => void
}

/**
 * Writes that arrive while a commit runs share the next one. They are decided one after the other, each against the result
 * of those before it. So a compare-and-swap in a shared commit is as safe as one alone. This process is the only writer, so
 * nothing can change between a decision and its commit.
 */
export class WriteQueue {
  readonly #committer: Committer
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #closed = false

  constructor(committer: Committer) {
    this.#committer = committer
  }

  push(write: Write): Promise<StorageEvent> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw closedError()
      this.#waiting.push({write, resolve, reject})
      this.#running ??= this.#run()
    })
  }

  /** Accepts no more writes, and waits for those accepted. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Lets the writers that the last commit woke join.
      await afterMicrotasks()
      await this.#commit(this.#take())
    }
    this.#running = undefined
  }

  #take(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const {write} of this.#waiting) {
      bytes += write.type === 'delete' ? 0 : write.value.length
      if (count > 0 && (bytes > MOST_BYTES || count >= MOST_WRITES)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #commit(batch: Waiting[]): Promise<void> {
    const {events, settle} = this.#decideAll(batch)
    try {
      if (events.length > 0) await this.#committer.commit(events)
    } catch (error) {
      // A refusal may depend on a write that has now failed, so all of them fail.
      for (const {reject} of batch) reject(error)
      return
    }
    if (events.length > 0) this.#committer.publish(events)
    for (const done of settle) done()
  }

  #decideAll(batch: Waiting[]): {events: StorageEvent[]; settle: (() => void)[]} {
    const events: StorageEvent[] = []
    const staged = new Map<string, KeyState | undefined>()
    const settle = batch.map(({write, resolve, reject}) => {
      try {
        const {key} = write
        const previous = staged.has(key) ? staged.get(key) : this.#committer.newest(key)
        const revision = this.#committer.revision() + events.length + 1
        const event = decide(write, previous, revision)
        events.push(event)
        staged.set(key, event.entry)
        return () => resolve(event)
      } catch (error) {
        return () => reject(error)
      }
    })
    return {events, settle}
  }
}

/** Resolves once nothing else is left to do in this phase of the event loop: a tick that a microtask asks for runs after all microtasks. */
const afterMicrotasks = (): Promise<void> =>
  new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
