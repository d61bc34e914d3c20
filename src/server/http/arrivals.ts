import {addressKey} from '../limits/address-key.ts'
import {FairQueue} from '../limits/fair-queue.ts'
import type {ProcessorSlice} from '../limits/processor-slice.ts'

const ALL = 'all'
const MOST_WAITING = {waitingPerHolder: 4000, waitingPerGroup: 20_000}
const WAIT_MILLISECONDS = 10_000

/**
 * Requests that have come in. Each turn of the event loop looks at as many as fit into a slice of its time, from all addresses
 * in turn: a connection that brings a thousand requests at once delays no one else's.
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

  /** Waits until a request of this address may be looked at. Throws if too many wait, or its caller has gone away. */
  async wait(remoteAddress: string, signal: AbortSignal): Promise<void> {
    const leave = await this.#queue.take({group: ALL, name: addressKey(remoteAddress)}, signal)
    leave()
    signal.throwIfAborted()
  }
}
