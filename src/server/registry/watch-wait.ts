import type {EventLog} from './event-log.ts'

/** Sleeps until there is something for a watch to do: a change, a bookmark's time, its end. */
export class WatchWait {
  readonly #log: EventLog
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #stop = () => this.#finish()
  #over = false
  #wake: (() => void) | undefined

  constructor(log: EventLog, milliseconds: number, signal: AbortSignal) {
    this.#log = log
    this.#signal = signal
    // The end of a watch is nothing to keep a process alive for.
    this.#timer = setTimeout(this.#stop, Math.min(milliseconds, 0x7fffffff)).unref()
    signal.addEventListener('abort', this.#stop, {once: true})
    if (signal.aborted) this.#over = true
  }

  /** Its time has passed, its caller has gone, or the server is closing. */
  get over(): boolean {
    return this.#over || this.#log.closed
  }

  async next(milliseconds: number | undefined): Promise<'changed' | 'over'> {
    if (this.over) return 'over'
    let timer: NodeJS.Timeout | undefined
    let forget: () => void = () => undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      forget = this.#log.onNext(resolve)
      if (milliseconds !== undefined) timer = setTimeout(resolve, milliseconds).unref()
    })
    forget()
    clearTimeout(timer)
    this.#wake = undefined
    return this.over ? 'over' : 'changed'
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#stop)
    this.#over = true
  }

  #finish(): void {
    this.#over = true
    this.#wake?.()
  }
}
