/** How often what was answered to an attack, and what must not have happened. */
export interface TallyCounts {
  answers: Record<string, number>
  breaches: string[]
}

const MAX_BREACHES = 5

export class Tally {
  readonly #answers = new Map<string, number>()
  readonly #breaches = new Set<string>()

  add(answer: string, times = 1): void {
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + times)
  }

  breach(what: string): void {
    if (this.#breaches.size < MAX_BREACHES) this.#breaches.add(what)
  }

  get counts(): TallyCounts {
    return {answers: Object.fromEntries(this.#answers), breaches: [...this.#breaches]}
  }
}
