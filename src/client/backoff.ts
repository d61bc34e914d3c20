export interface BackoffOptions {
  /** Milliseconds before the second attempt. */
  base?: number | undefined
  max?: number | undefined
  /** Between 0 and 1; tests use a constant. */
  random?: (() => number) | undefined
}

/** Exponential backoff with jitter, so that the clients of a restarted server do not all reconnect at once. */
export class Backoff {
  readonly #base: number
  readonly #max: number
  readonly #random: () => number
  #failures = 0

  constructor({base = 200, max = 30_000, random = Math.random}: BackoffOptions = {}) {
    this.#base = base
    this.#max = max
    this.#random = random
  }

  /** How long to wait before the next attempt: between half of the step and the whole. */
  next(): number {
    const step = Math.min(this.#max, this.#base * 2 ** Math.min(this.#failures, 30))
    this.#failures += 1
    return step * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
