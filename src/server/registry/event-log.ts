import type {StoredObject} from './stored-object.ts'

/** A change of one object, as every watcher sees it. Texts made for one watcher are kept for the others. */
export interface ObjectEvent {
  revision: number
  /** The state after; absent for a deletion. */
  current?: StoredObject
  /** The state before; absent for a creation. */
  previous?: StoredObject
  /** Frames by their form, made once. */
  frames: Map<string, string>
}

/**
 * The newest changes of one resource. Watchers hold a position in it and read on when they are woken, so a watcher costs no
 * queue of its own; one that falls out of the window has been too slow.
 */
export class EventLog {
  readonly #window: number
  #events: ObjectEvent[] = []
  /** The position of the first event that is still here. */
  #first = 0
  /** Every change after this revision is here. */
  #since: number
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor(since: number, window: number) {
    this.#since = since
    this.#window = window
  }

  /** Every change after this revision is in the log. */
  get since(): number {
    return this.#since
  }

  /** The position that the next event will have. */
  get end(): number {
    return this.#first + this.#events.length
  }

  append(events: ObjectEvent[]): void {
    if (events.length === 0) return
    for (const event of events) this.#events.push(event)
    // Trimmed by halves, so that the cost of moving is shared by many appends.
    if (this.#events.length > this.#window * 2) {
      const dropped = this.#events.splice(0, this.#events.length - this.#window)
      this.#first += dropped.length
      this.#since = dropped.at(-1)?.revision ?? this.#since
    }
    this.wake()
  }

  /** The position of the first event after a revision; undefined where that is no longer known. */
  positionAfter(revision: number): number | undefined {
    if (revision < this.#since) return undefined
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return this.#first + low
  }

  /** The events from a position on; undefined where some are gone. */
  from(position: number, limit: number): ObjectEvent[] | undefined {
    if (position < this.#first) return undefined
    const start = position - this.#first
    return this.#events.slice(start, start + limit)
  }

  /** Calls back once, at the next append or wake. */
  onNext(callback: () => void): () => void {
    this.#waiting.add(callback)
    return () => this.#waiting.delete(callback)
  }

  /** No more changes will come: every watch ends. */
  close(): void {
    this.#closed = true
    this.wake()
  }

  get closed(): boolean {
    return this.#closed
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const callback of waiting) callback()
  }
}
