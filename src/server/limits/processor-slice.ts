/** In milliseconds. Long enough for several usual requests, and too short to be noticed by whoever waits for the next turn. */
const SLICE = 2
/** How many may start before any of them has been worked on: only work takes time. */
const MOST_AT_ONCE = 8
/** In milliseconds. For so long at a time requests wait while connections come in. */
const LONGEST_ACCEPTING = 10

/** Requests that wait for time on the processor. */
export interface Line {
  /** Starts the next one. False if none may start now. */
  startNext(): boolean
}

/**
 * How long requests may use the event loop before it looks at its sockets again. Node.js accepts one connection in each turn of
 * the loop, so long turns would keep everybody else out. What does not fit waits for a later turn; lines take turns. While
 * connections come in, the next turns are for those behind them.
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

  /** Starts what waits in this line from the next turn on, until none of it may start. */
  serve(line: Line): void {
    this.#lines.add(line)
    if (this.#end === undefined) this.#begin(SLICE)
  }

  /** A connection has come in, and others may wait behind it. */
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
    // A tick that a microtask asks for comes after all microtasks: all that the request does without waiting is done by then.
    queueMicrotask(() => process.nextTick(() => this.#startNext()))
  }
}
