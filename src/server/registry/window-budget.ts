/** A holder of bytes that can release some. */
export interface Holder {
  readonly bytes: number
  /** Releases this many bytes, or all that it has. */
  release(bytes: number): void
}

/** The part that stays used after a cleanup, so that one cleanup makes room for many changes. */
const KEPT = 3 / 4

/** The bytes that the windows of all resources share. If there are too many, the largest window releases some. */
export class WindowBudget {
  readonly #most: number
  readonly #holders: Holder[] = []
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  add(holder: Holder): void {
    this.#holders.push(holder)
  }

  grow(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#most) return
    for (;;) {
      const excess = this.#bytes - this.#most * KEPT
      const [first, second] = this.#holders.toSorted((one, other) => other.bytes - one.bytes)
      if (excess <= 0 || first === undefined || first.bytes === 0) return
      // Down to the size of the next one, then both take turns.
      first.release(Math.min(excess, Math.max(first.bytes - (second?.bytes ?? 0), first.bytes / 2)))
    }
  }

  shrink(bytes: number): void {
    this.#bytes -= bytes
  }
}
