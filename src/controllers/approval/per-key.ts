/** Runs work on the same key in sequence; different keys do not wait for each other. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    let done: () => void = () => undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(key, mine)
    try {
      await before
      return await work()
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
      done()
    }
  }
}

/** Kubernetes' figures for requests that it knows but may not approve yet. */
const FIRST_WAIT = 200
const LONGEST_WAIT = 1_000_000

/** How long to wait before a key is checked again: twice as long each time. */
export class KeyedBackoff {
  readonly #waits = new Map<string, number>()
  readonly #longest: number

  constructor(longest = LONGEST_WAIT) {
    this.#longest = longest
  }

  next(key: string): number {
    const wait = this.#waits.get(key) ?? FIRST_WAIT
    this.#waits.set(key, Math.min(wait * 2, this.#longest))
    return wait
  }

  forget(key: string): void {
    this.#waits.delete(key)
  }
}
