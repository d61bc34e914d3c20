import {hasCode, TrustError} from '../errors.ts'
import type {StorageEvent, Subscriber} from './storage.ts'

/** Where a subscription reads what was committed before it began. */
export interface ChangeLog {
  /** Some changes under the prefix after a revision, and the revision up to which these are all. */
  read(prefix: string, since: number): {events: StorageEvent[]; through: number}
}

interface Subscription {
  prefix: string
  subscriber: Subscriber
}

/** Passes every commit to the subscribers, in order, before the next commit. */
export class Feed {
  readonly #log: ChangeLog
  readonly #subscriptions = new Set<Subscription>()

  constructor(log: ChangeLog) {
    this.#log = log
  }

  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void {
    const subscription = {prefix, subscriber}
    // Nothing is awaited between the last read of the log and this, so no commit can fall between them.
    this.#subscriptions.add(subscription)
    try {
      this.#catchUp(subscription, since)
    } catch (error) {
      if (!hasCode(error, 'STORE_COMPACTED')) {
        // Otherwise it would get what comes next, without what it has not got.
        this.#subscriptions.delete(subscription)
        throw error
      }
      queueMicrotask(() => {
        if (this.#subscriptions.delete(subscription)) subscriber.lost()
      })
    }
    return () => this.#subscriptions.delete(subscription)
  }

  publish(events: StorageEvent[]): void {
    const revision = events.at(-1)?.revision ?? 0
    for (const {prefix, subscriber} of [...this.#subscriptions]) {
      const own = events.filter(({key}) => key.startsWith(prefix))
      callSafely(() => subscriber.advance(revision, own))
    }
  }

  close(): void {
    this.#subscriptions.clear()
  }

  #catchUp({prefix, subscriber}: Subscription, since: number): void {
    for (let position = since; ;) {
      const {events, through} = this.#log.read(prefix, position)
      if (through === position) return
      subscriber.advance(through, events)
      position = through
    }
  }
}

/** The commit is done. A subscriber that throws must not keep events from the others. */
export function callSafely(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

export function closedError(): TrustError {
  return new TrustError('STORE_CLOSED', 'the store is closed')
}
