import {every, sleep} from '../../runtime.ts'
import {unavailable, type StatusError} from '../kernel/status.ts'

/** How long a server decides by its memory without news of the store, in milliseconds. */
export const STORE_TIMEOUT = 10_000
/** An idle store is asked for its revision this often, or more often if the bound is short. */
const ASK_EVERY = 2000
const LOOK_EVERY = 500
/** How long a request waits for the store once memory is too old: the process may only have been stopped for a while. */
const MOMENT = 1000

export interface MemoryAgeOptions {
  /** In milliseconds. */
  bound?: number | undefined
  /** Milliseconds that only grow. */
  now?: (() => number) | undefined
}

interface Follower {
  /** Asks the store for its revision and waits until memory has it; confirms that. */
  ask: () => Promise<void>
  /** Called when memory has become too old. */
  onOld: (error: StatusError) => void
}

/**
 * When memory was last known to have everything that the store had. Rights and credentials that another server has withdrawn since count
 * here until then, so nothing is decided by a memory that is older than the bound.
 */
export class MemoryAge {
  readonly now: () => number
  readonly #bound: number
  readonly #waiting = new Set<(error: StatusError) => void>()
  #confirmedAt: number
  #follower: Follower | undefined
  #asking: {since: number; done: Promise<unknown>} | undefined
  #wasOld = false

  constructor({bound = STORE_TIMEOUT, now = () => performance.now()}: MemoryAgeOptions = {}) {
    this.now = now
    this.#bound = bound
    this.#confirmedAt = now()
  }

  get milliseconds(): number {
    return this.now() - this.#confirmedAt
  }

  get isOld(): boolean {
    return this.milliseconds > this.#bound
  }

  /** Memory has everything that the store had at this time. */
  confirm(at: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, at)
  }

  /** Throws ServiceUnavailable if memory is too old to decide anything by. */
  async require(): Promise<void> {
    if (this.isOld) await this.#askForAMoment()
    this.requireNow()
  }

  requireNow(): void {
    if (this.isOld) throw this.#error()
  }

  /** What the store answers; ServiceUnavailable once memory is too old, however long the store takes. */
  within<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = () => this.#waiting.delete(fail)
      const fail = (error: Error) => {
        end()
        reject(error)
      }
      this.#waiting.add(fail)
      answer.then((value) => {
        end()
        resolve(value)
      }, fail)
    })
  }

  /** Asks an idle store from now on. Returns the function that ends it. */
  follow(follower: Follower): () => void {
    this.#follower = follower
    return every(Math.min(LOOK_EVERY, this.#bound / 10), () => this.#look())
  }

  async #look(): Promise<void> {
    if (this.isOld && !this.#wasOld) await this.#askForAMoment()
    else if (this.milliseconds >= Math.min(ASK_EVERY, this.#bound / 5)) void this.#ask()
    const {isOld} = this
    const hasBecomeOld = isOld && !this.#wasOld
    this.#wasOld = isOld
    if (!isOld) return
    const error = this.#error()
    for (const reject of this.#waiting) reject(error)
    if (hasBecomeOld) this.#follower?.onOld(error)
  }

  async #askForAMoment(): Promise<void> {
    const asked = this.#ask()
    const left = asked.since + MOMENT - this.now()
    if (left <= 0) return
    const waiting = new AbortController()
    const tooLong = sleep(left, waiting.signal).catch(() => undefined)
    await Promise.race([asked.done, tooLong])
    waiting.abort()
  }

  /** One question at a time: a store that does not respond is not asked by every request. */
  #ask() {
    if (this.#asking !== undefined) return this.#asking
    const done = (this.#follower?.ask() ?? Promise.resolve())
      .catch(() => undefined)
      .finally(() => (this.#asking = undefined))
    return (this.#asking = {since: this.now(), done})
  }

  #error(): StatusError {
    const seconds = Math.floor(this.milliseconds / 1000)
    return unavailable(`the server has had no news of the store for ${seconds} s`)
  }
}
