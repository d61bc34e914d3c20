import {setMaxListeners} from 'node:events'

/** The result of a reconcile: done, or call again after this many milliseconds. */
export interface ReconcileResult {
  requeueAfter?: number
}

export const DONE: ReconcileResult = {}

/** Brings the object of a key to its desired state, whatever has happened to it. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>

export interface WorkQueueOptions {
  /** How many keys are processed at a time; never the same key twice. */
  workers?: number
  /** The wait after a first failure; doubled for each further one. */
  backoff?: {first: number; most: number}
  /** Nothing is reconciled before it is fulfilled; absent: at once. */
  begin?: Promise<void> | undefined
  onError?: (key: string, error: unknown) => void
}

const DEFAULT_BACKOFF = {first: 200, most: 60_000}

/**
 * Keys to be reconciled. A key that is added many times before its turn is processed once. One that is added while it is
 * processed is processed again. Failures are retried with growing waits.
 */
export class WorkQueue {
  readonly #reconcile: Reconcile
  readonly #workers: number
  readonly #backoff: {first: number; most: number}
  readonly #onError: (key: string, error: unknown) => void
  readonly #stop = new AbortController()
  readonly #waiting = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #again = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #hasBegun: boolean

  constructor(
    reconcile: Reconcile,
    {
      workers = 1,
      backoff = DEFAULT_BACKOFF,
      begin,
      onError = () => undefined,
    }: WorkQueueOptions = {},
  ) {
    this.#reconcile = reconcile
    this.#workers = workers
    this.#backoff = backoff
    this.#onError = onError
    // Every call in flight listens, and there are many workers.
    setMaxListeners(0, this.#stop.signal)
    this.#hasBegun = begin === undefined
    void begin?.then(() => {
      this.#hasBegun = true
      this.#next()
    })
  }

  add(key: string): void {
    if (this.#stop.signal.aborted) return
    if (this.#running.has(key)) this.#again.add(key)
    else {
      this.#waiting.add(key)
      this.#next()
    }
  }

  addAfter(key: string, milliseconds: number): void {
    if (this.#stop.signal.aborted) return
    clearTimeout(this.#timers.get(key))
    // A wait longer than a timer can hold is cut: the reconcile then finds nothing due and asks again.
    const timer = setTimeout(
      () => {
        this.#timers.delete(key)
        this.add(key)
      },
      Math.min(milliseconds, 0x7fffffff),
    )
    timer.unref()
    this.#timers.set(key, timer)
  }

  /** Takes no more work and waits for running work. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the controller is stopping'))
    this.#waiting.clear()
    this.#again.clear()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    await Promise.all(this.#running.values())
  }

  #next(): void {
    if (!this.#hasBegun) return
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#workers) return
      this.#waiting.delete(key)
      // Starts in a later turn, so that the key counts as running before its reconcile can add it again.
      this.#running.set(
        key,
        Promise.resolve().then(() => this.#work(key)),
      )
    }
  }

  async #work(key: string): Promise<void> {
    try {
      const {requeueAfter} = await this.#reconcile(key, this.#stop.signal)
      this.#failures.delete(key)
      if (requeueAfter !== undefined) this.addAfter(key, requeueAfter)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(key, error)
    } finally {
      this.#running.delete(key)
      if (this.#again.delete(key)) this.#waiting.add(key)
      this.#next()
    }
  }

  #failed(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#onError(key, error)
    this.addAfter(key, Math.min(this.#backoff.first * 2 ** failures, this.#backoff.most))
  }
}
