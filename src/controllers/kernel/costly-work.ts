import {setImmediate} from 'node:timers/promises'
import {sleep} from '../../runtime.ts'

const SLICE = 5
/** Milliseconds of rest for each millisecond of costly work: it gets at most a fifth of the process. */
const REST = 4
const LONGEST_REST = 1000

/** Created when long work begins, and called between its steps: from time to time it lets everything else in the process run. */
export function slices(signal: AbortSignal): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < SLICE) return
    await setImmediate(undefined, {signal})
    began = performance.now()
  }
}

const REAL_TIME = {now: () => performance.now(), sleep}

/** Limits work whose cost grows with the cluster: the longer it took, the later it runs again. */
export class CostlyWork {
  readonly #time: typeof REAL_TIME
  #notBefore = 0

  constructor(time = REAL_TIME) {
    this.#time = time
  }

  async rest(signal: AbortSignal): Promise<void> {
    const left = this.#notBefore - this.#time.now()
    if (left > 0) await this.#time.sleep(left, signal)
  }

  async run<T>(work: Promise<T>): Promise<T> {
    const began = this.#time.now()
    try {
      return await work
    } finally {
      const ended = this.#time.now()
      this.#notBefore = ended + Math.min((ended - began) * REST, LONGEST_REST)
    }
  }
}
