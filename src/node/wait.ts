import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'

/** However long a server asks to wait: it may be wrong, or not ours. */
const LONGEST_ASKED = 3_600_000

/** How many milliseconds a failure asks to wait, as that of a busy server does; at most an hour. */
export const askedWait = (error: unknown): number =>
  Math.min(error instanceof TrustError ? Number(error.facts.retryAfter ?? 0) : 0, LONGEST_ASKED)

/** How long to wait before something is done again. At first, and once it was ended, there is nothing to wait for. */
export class Wait {
  readonly #clock: Clock
  #until = 0
  #length = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** When it is over; the epoch if there is nothing to wait for. A clock that was set back does not make the wait longer. */
  get until(): Date {
    // Kept, because a limit that moved along with the clock would never be reached.
    this.#until = Math.min(this.#until, this.#clock.now().getTime() + this.#length)
    return new Date(this.#until)
  }

  start(milliseconds: number): void {
    this.#length = milliseconds
    this.#until = this.#clock.now().getTime() + milliseconds
  }

  end(): void {
    this.#until = 0
  }
}
