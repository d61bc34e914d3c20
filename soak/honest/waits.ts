import {untilAborted} from '../../src/client/cancellation.ts'

/** How long honest requests of one kind took, in milliseconds, and those that got no good answer. */
export interface WaitSummary {
  what: string
  requests: number
  refused: number
  p50: number
  p99: number
  longest: number
}

const KEPT_REASONS = 5

/** What the honest ones went through. */
export class Waits {
  readonly #taken = new Map<string, number[]>()
  readonly #refused = new Map<string, number>()
  readonly reasons: string[] = []

  note(what: string, milliseconds: number): void {
    const taken = this.#taken.get(what) ?? []
    taken.push(milliseconds)
    this.#taken.set(what, taken)
  }

  refuse(what: string, reason: unknown): void {
    this.#refused.set(what, (this.#refused.get(what) ?? 0) + 1)
    if (this.reasons.length < KEPT_REASONS) this.reasons.push(`${what}: ${String(reason)}`)
  }

  /**
   * Times a request; undefined where it was refused. One that the end of the run cuts off has waited, and was not refused;
   * after that none is begun.
   */
  async time<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    if (signal.aborted) return undefined
    const start = performance.now()
    try {
      // Not all can be called off, and a server that hangs must not hold up the end of the run.
      const result = await untilAborted(work(), signal)
      this.note(what, performance.now() - start)
      return result
    } catch (error) {
      this.note(what, performance.now() - start)
      if (!signal.aborted) this.refuse(what, error)
      return undefined
    }
  }

  get summaries(): WaitSummary[] {
    return [...this.#taken].map(([what, taken]) => {
      const sorted = taken.toSorted((one, other) => one - other)
      const quantile = (part: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
      return {
        what,
        requests: sorted.length,
        refused: this.#refused.get(what) ?? 0,
        p50: quantile(0.5),
        p99: quantile(0.99),
        longest: sorted.at(-1) ?? 0,
      }
    })
  }
}
