/** A set of items by address, for each address in the order of arrival. */
export class ByAddress<Item extends {address: string}> {
  readonly #sets = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: Item): void {
    const own = this.#sets.get(item.address) ?? new Set()
    if (own.has(item)) return
    this.#sets.set(item.address, own.add(item))
    this.#size++
  }

  delete(item: Item): boolean {
    const own = this.#sets.get(item.address)
    if (own?.delete(item) !== true) return false
    if (own.size === 0) this.#sets.delete(item.address)
    this.#size--
    return true
  }

  /** The first item of the address that has most. */
  oldestOfMost(): Item | undefined {
    let most = new Set<Item>()
    for (const own of this.#sets.values()) if (own.size > most.size) most = own
    const [oldest] = most
    return oldest
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (const own of this.#sets.values()) yield* own
  }
}
