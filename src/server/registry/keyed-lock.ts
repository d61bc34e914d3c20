/** Once writers of one object have conflicted, lets them write in sequence, each on the result of the one before. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>()

  /** Waits for earlier writers; returns the function that lets the next one continue. */
  async take(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    let done: () => void = () => undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(key, mine)
    await before
    return () => {
      if (this.#last.get(key) === mine) this.#last.delete(key)
      done()
    }
  }
}
