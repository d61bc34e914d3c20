import type {StoredObject} from './stored-object.ts'
import type {WindowBudget} from './window-budget.ts'

/** A change of one object, as every watcher sees it. */
export class ObjectEvent {
  readonly revision: number
  /** The state after; undefined for a deletion. */
  readonly current: StoredObject | undefined
  /** The state before; undefined for a creation. */
  readonly previous: StoredObject | undefined
  /** Made when the first watcher asks: the server's own watches take the object. */
  #frames: Map<string, string> | undefined
  #bytes: number
  #count: ((bytes: number) => void) | undefined

  constructor(revision: number, current?: StoredObject, previous?: StoredObject) {
    this.revision = revision
    this.current = current
    this.previous = previous
    this.#bytes = (current?.json.length ?? 0) + (previous?.json.length ?? 0)
  }

  /** What it keeps in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Its text in one form, built once for all watchers. */
  frame(form: string, make: () => string): string {
    const known = this.#frames?.get(form)
    if (known !== undefined) return known
    const made = make()
    this.#frames ??= new Map()
    this.#frames.set(form, made)
    this.#bytes += made.length
    this.#count?.(made.length)
    return made
  }

  /** Sets the function that counts added bytes; undefined once the log has dropped the event. */
  countIn(count: ((bytes: number) => void) | undefined): void {
    this.#count = count
  }
}

/** A watch that waits for the next change, of any object or of those with one name. */
class Waiter {
  readonly #wake: () => void
  /** The position of the first change that it was woken for. */
  position: number | undefined

  constructor(wake: () => void) {
    this.#wake = wake
  }

  wakeAt(position: number): void {
    if (this.position !== undefined) return
    this.position = position
    this.#wake()
  }
}

/** A position before every log's first. */
export const GONE = -1

/**
 * The newest changes of one resource. Watchers hold a position in it and continue to read when they are woken, so they need
 * no queue of their own. A watcher that falls out of the window was too slow. The window is limited by the number of
 * changes, and by the bytes that the windows of all resources take together.
 */
export class EventLog {
  readonly #window: number
  readonly #budget: WindowBudget
  #events: ObjectEvent[] = []
  #bytes = 0
  /** The position of the first event that is still here; 0 once the log is started. */
  #first = -1
  /** Every change after this revision is here. */
  #since = 0
  readonly #waiting = new Set<Waiter>()
  readonly #waitingByName = new Map<string, Set<Waiter>>()
  #closed = false

  constructor(window: number, budget: WindowBudget) {
    this.#window = window
    this.#budget = budget
    budget.add(this)
  }

  /** Every change after this revision is in the log. */
  get since(): number {
    return this.#since
  }

  /** The position that the next event will have. */
  get end(): number {
    return this.#first + this.#events.length
  }

  /** What its events keep in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Starts again after a revision: earlier changes are not in the log. All previous positions become invalid. */
  startAfter(revision: number): void {
    this.#drop(this.#events.length)
    this.#first++
    this.#since = revision
    this.#wakeAll()
  }

  append(events: ObjectEvent[]): void {
    if (events.length === 0) return
    const start = this.end
    for (const event of events) {
      this.#events.push(event)
      event.countIn(this.#count)
      this.#count(event.bytes)
    }
    // Trimmed by half at a time, so that many appends share the cost of moving.
    if (this.#events.length > this.#window * 2) this.#drop(this.#events.length - this.#window)
    for (const waiter of this.#waiting) waiter.wakeAt(start)
    if (this.#waitingByName.size === 0) return
    for (const {current, previous} of events)
      for (const waiter of this.#waitingByName.get((current ?? previous)?.name ?? '') ?? [])
        waiter.wakeAt(start)
  }

  /** Drops the oldest events until this many bytes are free, or all of them. */
  release(bytes: number): void {
    let count = 0
    for (let freed = 0; freed < bytes && count < this.#events.length; count++)
      freed += this.#events[count]?.bytes ?? 0
    this.#drop(count)
  }

  /** The position of the first event after a revision; undefined if that is no longer known. */
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

  /** The events from a position on; undefined if some are gone. */
  from(position: number, limit: number): ObjectEvent[] | undefined {
    if (position < this.#first) return undefined
    const start = position - this.#first
    return this.#events.slice(start, start + limit)
  }

  /**
   * Calls back at the next change, of any object or of those with the name. With thousands of watches, each of one object, a
   * change wakes only one. The returned function ends the wait and returns the position to read from.
   */
  onNext(callback: () => void, name?: string): () => number {
    const waiter = new Waiter(callback)
    const waiting = name === undefined ? this.#waiting : this.#waitingFor(name)
    waiting.add(waiter)
    return () => {
      waiting.delete(waiter)
      if (name !== undefined && waiting.size === 0 && this.#waitingByName.get(name) === waiting)
        this.#waitingByName.delete(name)
      return waiter.position ?? this.end
    }
  }

  #waitingFor(name: string): Set<Waiter> {
    const waiting = this.#waitingByName.get(name) ?? new Set()
    this.#waitingByName.set(name, waiting)
    return waiting
  }

  /** No more changes will come: every watch ends. */
  close(): void {
    this.#closed = true
    this.#wakeAll()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Wakes watches for a reason other than a change. */
  #wakeAll(): void {
    for (const waiting of [this.#waiting, ...this.#waitingByName.values()])
      for (const waiter of waiting) waiter.wakeAt(GONE)
  }

  readonly #count = (bytes: number): void => {
    this.#bytes += bytes
    this.#budget.grow(bytes)
  }

  #drop(count: number): void {
    const dropped = this.#events.splice(0, count)
    this.#first += dropped.length
    this.#since = dropped.at(-1)?.revision ?? this.#since
    let freed = 0
    for (const event of dropped) {
      event.countIn(undefined)
      freed += event.bytes
    }
    this.#bytes -= freed
    this.#budget.shrink(freed)
  }
}
