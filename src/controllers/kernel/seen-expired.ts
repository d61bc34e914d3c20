/** A good day: a clock that is wrong, or in another time zone, is noticed by then. */
export const GRACE = 26 * 3_600_000

/**
 * What has expired, and since when this process has seen it so by a clock that nobody can set. What would be lost for good is deleted
 * only after a grace: a machine's clock may jump ahead and be set back, and each look in between starts the grace again.
 */
export class SeenExpired {
  readonly #monotonic: () => number
  #since = new Map<string, number>()

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic
  }

  /** Notes all that count as expired now, and forgets all others. Returns those that have been so at every look for the grace. */
  look(expired: Iterable<string>): Set<string> {
    const now = this.#monotonic()
    const before = this.#since
    this.#since = new Map()
    const due = new Set<string>()
    for (const key of expired) {
      const since = before.get(key) ?? now
      this.#since.set(key, since)
      if (now - since >= GRACE) due.add(key)
    }
    return due
  }
}
