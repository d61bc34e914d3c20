export interface SlotPoolOptions {
  /** How many may be held by all together. */
  total: number
  /** How many may be held by one. */
  perHolder: number
}

/**
 * Slots that many share. While half of them are free anybody may take up to the own limit; beyond that nobody gets more
 * than an equal share, so that one greedy holder, or a few, leave room for the others.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(options: SlotPoolOptions) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  /** Holders with a slot in hand; the others take no memory. */
  get holders(): number {
    return this.#held.size
  }

  /** Takes a slot and answers how to give it back, once; undefined where there is none to have. */
  take(holder: string, {beyondTotal = false} = {}): (() => void) | undefined {
    const own = this.#held.get(holder) ?? 0
    if (own >= this.#options.perHolder) return undefined
    if (!beyondTotal && (this.#taken >= this.#options.total || own >= this.#share(own))) {
      return undefined
    }
    this.#held.set(holder, own + 1)
    this.#taken += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release(holder)
    }
  }

  #share(own: number): number {
    const {total} = this.#options
    if (this.#taken < total / 2) return total
    const contenders = this.#held.size + (own === 0 ? 1 : 0)
    return Math.max(1, Math.floor(total / contenders))
  }

  #release(holder: string): void {
    this.#taken -= 1
    const left = (this.#held.get(holder) ?? 1) - 1
    if (left === 0) this.#held.delete(holder)
    else this.#held.set(holder, left)
  }
}
