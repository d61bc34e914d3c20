/** Lets writers of one object go one after another once they have met, each on what the one before it has left. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>()

  /** Waits for those who came before; answers how to let the next one go. */
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
