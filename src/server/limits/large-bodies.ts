import {FairQueue, type FairQueueOptions} from './fair-queue.ts'
import type {Member} from './shared-pool.ts'

/** In bytes. What is smaller costs less than to wait for a turn. */
const LARGE = 32 * 1024
/** In milliseconds. After work as short as this nobody needs a rest. */
const SHORT = 5
/** For each millisecond of work so many go to the other requests. */
const REST = 3

type WaitOptions = Pick<
  FairQueueOptions,
  'waitingPerGroup' | 'waitingPerHolder' | 'waitMilliseconds'
>

/**
 * Large bodies are worked on one at a time, and after each the other requests have the processor for three times as
 * long. So whoever sends them gets a quarter of the processor at most, however many bodies and identities it has. Groups and their
 * members take turns.
 */
export class LargeBodies {
  readonly #turns: FairQueue

  constructor(groups: readonly string[], waiting: WaitOptions) {
    const reserves = Object.fromEntries(groups.map((group) => [group, 0]))
    this.#turns = new FairQueue({...waiting, total: 1, perHolder: 1, reserves})
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** Waits for a turn to work on a body of so many bytes. Throws TooManyRequests. */
  async turn(member: Member, bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes < LARGE) return
    const end = await this.#turns.take(member, signal)
    const start = performance.now()
    // Decoding and checking do not wait for anything: they are done once the event loop turns.
    setImmediate(() => {
      const took = performance.now() - start
      if (took <= SHORT) end()
      else setTimeout(end, took * REST)
    })
  }
}
