/**
 * One question in flight answers everybody who waits for it. Who comes while it is in flight waits for the next one: a write may have
 * been acknowledged after this one was answered.
 */
export class SharedQuestion<T> {
  readonly #ask: () => Promise<T>
  #current: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(ask: () => Promise<T>) {
    this.#ask = ask
  }

  answer(): Promise<T> {
    if (!this.#current) return this.#start()
    this.#next ??= this.#current.then(
      () => this.#startNext(),
      () => this.#startNext(),
    )
    return this.#next
  }

  #start(): Promise<T> {
    const current = this.#ask().finally(() => {
      if (this.#current === current) this.#current = undefined
    })
    this.#current = current
    return current
  }

  #startNext(): Promise<T> {
    this.#next = undefined
    return this.#start()
  }
}
