/** A map that drops the least recently used entry. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#limit) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    this.#entries.set(key, value)
  }
}
