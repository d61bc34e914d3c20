/** Kubernetes' figures for requests that it knows but may not approve yet. */
const FIRST = 200
const LONGEST = 1_000_000

/** How long to wait before something is looked at again: twice as long each time. */
export class Patience {
  readonly #waits = new Map<string, number>()

  next(key: string): number {
    const wait = this.#waits.get(key) ?? FIRST
    this.#waits.set(key, Math.min(wait * 2, LONGEST))
    return wait
  }

  forget(key: string): void {
    this.#waits.delete(key)
  }
}
