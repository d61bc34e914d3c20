/** Lets those who work on one key go one after another; different keys do not wait for each other. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
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
