/** What holds bytes of a budget and can give some back. */
export interface Holder {
  readonly bytes: number
  /** Gives back so many bytes, or all that it has. */
  release(bytes: number): void
}

const MOST_BYTES = 32 * 1024 * 1024
/** So much is left when it was full, so that room is made once for many changes. */
const KEPT = 3 / 4

/** The bytes that the windows of all resources share. When they are too many, whoever holds most gives some back. */
export class WindowBudget {
  readonly #most: number
  readonly #holders: Holder[] = []
  #bytes = 0

  constructor(most = MOST_BYTES) {
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
      // Down to what the next one holds, then both take turns.
      first.release(Math.min(excess, Math.max(first.bytes - (second?.bytes ?? 0), first.bytes / 2)))
    }
  }

  shrink(bytes: number): void {
    this.#bytes -= bytes
  }
}
