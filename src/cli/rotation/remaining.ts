/** How many have to be seen to change before their pace says something. */
const FEWEST = 3

/**
 * How long the rest will take, from the pace that was seen since it began to look. Unknown until some were seen to change, and again if
 * the next one is overdue: a machine that is off has no pace.
 */
export class Remaining {
  #first: {done: number; at: number} | undefined
  #last: {done: number; at: number} | undefined

  /** Notes how many are done of all, and returns the seconds that are left; undefined if that is not known. */
  observe(done: number, total: number, now: Date): number | undefined {
    const at = now.getTime()
    if (!this.#first || !this.#last || done < this.#last.done) {
      this.#first = this.#last = {done, at}
    } else if (done > this.#last.done) this.#last = {done, at}
    const [seen, took] = [this.#last.done - this.#first.done, this.#last.at - this.#first.at]
    if (done >= total) return 0
    if (seen < FEWEST || took <= 0) return undefined
    const each = took / seen
    const silence = at - this.#last.at
    if (silence > FEWEST * Math.max(each, 1000)) return undefined
    return Math.max(1, Math.ceil(((total - done) * each - silence) / 1000))
  }
}
