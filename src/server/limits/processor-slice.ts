/** In milliseconds. Long enough for several usual requests, and short enough not to delay the next turn noticeably. */
const SLICE = 2
/** How many may start before any of them has used processor time. */
const MOST_AT_ONCE = 8
/** In milliseconds. How long requests wait at a time while connections arrive. */
const LONGEST_ACCEPTING = 10

/** Requests that wait for time on the processor. */
export interface Line {
  /** Starts the next one. False if none may start now. */
  startNext(): boolean
}

/**
 * Limits how long requests may use the event loop before it polls its sockets again. Node.js accepts one connection in each
 * turn of the loop, so long turns would keep others out. What does not fit waits for a later turn; queues take turns. While
 * connections arrive, the next turns are left to the connections behind them.
 */
export class ProcessorSlice {
  readonly #lines = new Set<Line>()
  #end: number | undefined
  #starts = 0
  #hasAccepted = false
  #acceptingSince: number | undefined

  /** Whether one more may start in this turn of the loop. */
  take(): boolean {
    if (this.#end === undefined) this.#begin(SLICE)
    this.#starts += 1
    return this.#starts <= MOST_AT_ONCE && this.#hasTime()
  }

  /** From the next turn on, starts the requests that wait in this queue, as far as they may start. */
  serve(line: Line): void {
    this.#lines.add(line)
    if (this.#end === undefined) this.#begin(SLICE)
  }

  /** A connection was accepted, and others may wait behind it. */
  accepted(): void {
    this.#hasAccepted = true
  }

  #hasTime(): boolean {
    return performance.now() < (this.#end ?? 0)
  }

  #begin(milliseconds: number): void {
    this.#starts = 0
    this.#end = performance.now() + milliseconds
    setImmediate(() => {
      this.#end = undefined
      const isAccepting = this.#isAccepting()
      if (this.#lines.size === 0) return
      this.#begin(isAccepting ? 0 : SLICE)
      this.#startNext()
    })
  }

  #isAccepting(): boolean {
    const now = performance.now()
    const since = this.#acceptingSince ?? now
    const isAccepting = this.#hasAccepted && now - since < LONGEST_ACCEPTING
    this.#hasAccepted = false
    this.#acceptingSince = isAccepting ? since : undefined
    return isAccepting
  }

  #startNext(): void {
    const [line] = this.#lines
    if (line === undefined || !this.#hasTime()) return
    this.#lines.delete(line)
    if (line.startNext()) this.#lines.add(line)
    // A tick scheduled by a microtask runs after all microtasks. By then the request has done everything that it does
    // without waiting.
    queueMicrotask(() => process.nextTick(() => this.#startNext()))
  }
}
