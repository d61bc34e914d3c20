import {TrustError} from '../errors.ts'
import type {StorageEvent} from './storage.ts'

/** Where a watch reads what has been committed before it got there. */
export interface ChangeLog {
  read(prefix: string, since: number): {events: StorageEvent[]; through: number}
}

interface Subscription {
  prefix: string
  listener: (events: StorageEvent[]) => void
}

/**
 * Hands every commit to those who listen. A watch holds a position, not a queue: one that lags reads on from the
 * log, so there is no gap, no repeat and no memory that grows with a slow reader.
 */
export class Feed {
  readonly #log: ChangeLog
  readonly #subscriptions = new Set<Subscription>()
  readonly #watches = new Set<Watch>()
  #closed = false

  constructor(log: ChangeLog) {
    this.#log = log
  }

  subscribe(prefix: string, listener: Subscription['listener']): () => void {
    const subscription = {prefix, listener}
    this.#subscriptions.add(subscription)
    return () => this.#subscriptions.delete(subscription)
  }

  watch(prefix: string, since: number, signal: AbortSignal): AsyncIterable<StorageEvent[]> {
    return {
      [Symbol.asyncIterator]: () => {
        const watch = new Watch(this.#log, prefix, since, () => {
          this.#watches.delete(watch)
          signal.removeEventListener('abort', watch.end)
        })
        if (this.#closed) watch.fail(closedError())
        else if (signal.aborted) watch.end()
        else {
          this.#watches.add(watch)
          signal.addEventListener('abort', watch.end, {once: true})
        }
        return watch
      },
    }
  }

  publish(events: StorageEvent[]): void {
    for (const {prefix, listener} of [...this.#subscriptions]) {
      const own = under(prefix, events)
      if (own.length > 0) callSafely(listener, own)
    }
    for (const watch of [...this.#watches]) watch.offer(events)
  }

  close(): void {
    this.#closed = true
    this.#subscriptions.clear()
    for (const watch of [...this.#watches]) watch.fail(closedError())
  }
}

type Step = IteratorResult<StorageEvent[], undefined>

const ENDED: Step = {done: true, value: undefined}

class Watch implements AsyncIterator<StorageEvent[], undefined> {
  readonly #log: ChangeLog
  readonly #prefix: string
  readonly #release: () => void
  #since: number
  #waiting: {resolve: (step: Step) => void; reject: (error: Error) => void} | undefined
  #over: {error?: Error} | undefined

  constructor(log: ChangeLog, prefix: string, since: number, release: () => void) {
    this.#log = log
    this.#prefix = prefix
    this.#since = since
    this.#release = release
  }

  next(): Promise<Step> {
    return new Promise((resolve, reject) => {
      if (this.#over) {
        const {error} = this.#over
        this.#over = {}
        if (error) reject(error)
        else resolve(ENDED)
        return
      }
      if (this.#waiting) throw new TrustError('INTERNAL', 'a watch is read by one reader at a time')
      const events = this.#catchUp()
      if (events.length > 0) resolve({done: false, value: events})
      else this.#waiting = {resolve, reject}
    })
  }

  return(): Promise<Step> {
    this.end()
    return Promise.resolve(ENDED)
  }

  /** A reader that waits gets the commit at once; one that is busy finds it in the log. */
  offer(events: StorageEvent[]): void {
    const waiting = this.#waiting
    if (!waiting) return
    const own = under(this.#prefix, events).filter(({revision}) => revision > this.#since)
    this.#since = Math.max(this.#since, events.at(-1)?.revision ?? 0)
    if (own.length === 0) return
    this.#waiting = undefined
    waiting.resolve({done: false, value: own})
  }

  readonly end = (): void => this.#finish({})

  fail(error: Error): void {
    this.#finish({error})
  }

  #catchUp(): StorageEvent[] {
    try {
      const {events, through} = this.#log.read(this.#prefix, this.#since)
      this.#since = through
      return events
    } catch (error) {
      this.#finish({})
      throw error
    }
  }

  #finish(over: {error?: Error}): void {
    if (this.#over) return
    this.#release()
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#over = waiting ? {} : over
    if (!waiting) return
    if (over.error) waiting.reject(over.error)
    else waiting.resolve(ENDED)
  }
}

function under(prefix: string, events: StorageEvent[]): StorageEvent[] {
  return events.filter(({key}) => key.startsWith(prefix))
}

/** The commit is done: a listener that throws is a fault of its own and must not cost others their events. */
function callSafely(listener: Subscription['listener'], events: StorageEvent[]): void {
  try {
    listener(events)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

export function closedError(): TrustError {
  return new TrustError('STORE_CLOSED', 'the store is closed')
}
