import type {EventLog} from './event-log.ts'

/** Sleeps until there is something for a watch to do: a change, a bookmark's time, its end. */
export class WatchWait {
  readonly #log: EventLog
  /** Only changes of objects with this name count; undefined: all do. */
  readonly #name: string | undefined
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #stop = () => this.#finish()
  #over = false
  #wake: (() => void) | undefined

  constructor(log: EventLog, milliseconds: number, signal: AbortSignal, name?: string) {
    this.#log = log
    this.#name = name
    this.#signal = signal
    // The timer of a watch must not keep the process alive.
    this.#timer = setTimeout(this.#stop, Math.min(milliseconds, 0x7fffffff)).unref()
    signal.addEventListener('abort', this.#stop, {once: true})
    if (signal.aborted) this.#over = true
  }

  /** Its time has passed, its caller has left, or the server is closing. */
  get over(): boolean {
    return this.#over || this.#log.closed
  }

  /** Waits for a change, with a time limit. Returns the position in the log to read from; undefined at the end. */
  next(milliseconds: number | undefined): Promise<number | undefined> {
    if (this.over) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        const position = leave()
        resolve(this.over ? undefined : position)
      }
      const leave = this.#log.onNext(wake, this.#name)
      const timer = milliseconds === undefined ? undefined : setTimeout(wake, milliseconds).unref()
      this.#wake = wake
    })
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
