/** Combines a caller's signal and a deadline, and releases both, so that long-lived signals do not collect listeners. */
export class Cancellation {
  readonly #controller = new AbortController()
  readonly #parent: AbortSignal | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parent?: AbortSignal) {
    this.#parent = parent
    parent?.throwIfAborted()
    parent?.addEventListener('abort', this.#follow, {once: true})
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly #follow = () => this.cancel(this.#parent?.reason)

  cancel(reason?: unknown): void {
    this.#controller.abort(reason)
    this.release()
  }

  /** Cancels with the error, unless released or extended before. */
  expireAfter(milliseconds: number, error: () => Error): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.cancel(error()), milliseconds)
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  release(): void {
    this.stopTimer()
    this.#parent?.removeEventListener('abort', this.#follow)
  }
}

/** Ends with the signal's reason as soon as it is aborted, whatever becomes of the work: its failure is nobody's after that. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, {once: true})
    if (signal.aborted) stop()
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** As `untilAborted`, for one piece of work after the other, with one listener for all of them. */
export class AbortableSteps {
  readonly #signal: AbortSignal
  #reject: (reason: unknown) => void = () => undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#stop, {once: true})
  }

  next<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject
      if (this.#signal.aborted) this.#stop()
      work.then(resolve, reject)
    })
  }

  release(): void {
    this.#signal.removeEventListener('abort', this.#stop)
  }

  readonly #stop = () => this.#reject(this.#signal.reason)
}
