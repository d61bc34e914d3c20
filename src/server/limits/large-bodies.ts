import {FairQueue, type FairQueueOptions} from './fair-queue.ts'
import type {Member} from './shared-pool.ts'

/** In bytes. Smaller bodies cost less than waiting for a turn. */
const LARGE = 32 * 1024
/** In milliseconds. No pause is needed after work as short as this. */
const SHORT = 5
/** For each millisecond of work, how many milliseconds go to the other requests. */
const REST = 7

/** The parser of YAML takes this many times as long as that of JSON, at least. */
const YAML_COST = 16

/** How many bytes of JSON take as long as a body. */
export const costOf = (bytes: number, contentType = ''): number =>
  contentType.toLowerCase().includes('yaml') ? bytes * YAML_COST : bytes

type WaitOptions = Pick<
  FairQueueOptions,
  'waitingPerGroup' | 'waitingPerHolder' | 'waitMilliseconds'
>

/**
 * Large bodies are processed one at a time. After each, the other requests get the processor for seven times as long. So
 * large bodies get at most an eighth of the processor, however many bodies and identities a sender has. Groups and their
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

  /** Waits for a turn to process a body that costs as much as this many bytes of JSON. Call what it returns when the work begins. Throws TooManyRequests. */
  async turn(member: Member, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (bytes < LARGE) return () => undefined
    const end = await this.#turns.take(member, signal)
    return () => {
      const start = performance.now()
      // Decoding and checking never wait, so they are done when the event loop turns.
      setImmediate(() => {
        const took = performance.now() - start
        if (took <= SHORT) end()
        else setTimeout(end, took * REST)
      })
    }
  }
}
