import {addressKey} from '../limits/token-buckets.ts'
import {FairQueue} from '../limits/fair-queue.ts'
import type {ProcessorSlice} from '../limits/processor-slice.ts'

const ALL = 'all'
const MOST_WAITING = {waitingPerHolder: 4000, waitingPerGroup: 20_000}
const WAIT_MILLISECONDS = 10_000

/**
 * Requests that have arrived. Each turn of the event loop takes as many as fit into a time slice, from all addresses in
 * turn. So a connection with a thousand requests at once does not delay others.
 */
export class Arrivals {
  readonly #queue: FairQueue

  constructor(slice: ProcessorSlice) {
    this.#queue = new FairQueue({
      ...MOST_WAITING,
      total: Infinity,
      perHolder: Infinity,
      reserves: {[ALL]: 0},
      waitMilliseconds: WAIT_MILLISECONDS,
      slice,
    })
  }

  /** Waits until a request of this address may be processed. Throws if too many wait, or if its caller has left. */
  async wait(remoteAddress: string, signal: AbortSignal): Promise<void> {
    const leave = await this.#queue.take({group: ALL, name: addressKey(remoteAddress)}, signal)
    leave()
    signal.throwIfAborted()
  }
}
