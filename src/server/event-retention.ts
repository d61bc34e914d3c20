import {every, type Clock} from '../runtime.ts'
import {hasCode} from '../errors.ts'
import type {Event} from './resources/events.ts'
import type {Registry} from './registry/registry.ts'
import {parse, type StoredObject} from './registry/stored-object.ts'

export interface EventLimits {
  /** After its last change; as kube-apiserver's --event-ttl. */
  milliseconds: number
  /** In one namespace. */
  count: number
  /** In all namespaces together, as text. */
  bytes: number
}

const DEFAULT_EVENT_LIMITS: EventLimits = {
  milliseconds: 3_600_000,
  count: 10_000,
  bytes: 16 * 1024 * 1024,
}

const EVERY = 10_000
/** Deletions that share a commit. */
const TOGETHER = 256

interface Known {
  stored: StoredObject
  /** When it was last written. */
  at: number
}

/**
 * Deletes Events an hour after their last change, as Kubernetes does, and the oldest ones earlier if there are too many.
 * They are sorted by their last change, so a sweep visits only those that it deletes.
 */
export class EventRetention {
  readonly #registry: Registry
  readonly #clock: Clock
  readonly #limits: EventLimits
  /** The one with the oldest last change comes first. */
  readonly #known = new Map<string, Known>()
  readonly #byNamespace = new Map<string, Set<string>>()
  /** Namespaces that have too many. */
  readonly #crowded = new Set<string>()
  readonly #onError: (error: unknown) => void
  #bytes = 0
  /** The last sweep failed: the next one waits for its time. */
  #hasFailed = false
  #running: Promise<void> | undefined

  constructor(
    registry: Registry,
    clock: Clock,
    onError: (error: unknown) => void,
    limits = DEFAULT_EVENT_LIMITS,
  ) {
    this.#registry = registry
    this.#clock = clock
    this.#onError = onError
    this.#limits = limits
    const store = registry.store('', 'events')
    const loaded = [...(store?.range('') ?? [])].sort((one, other) => one.revision - other.revision)
    for (const stored of loaded) this.#add({stored, at: writtenAt(stored, clock.now())})
    store?.onEvents((events) => {
      for (const {current, previous} of events) {
        this.#remove((current ?? previous)?.key ?? '')
        if (current !== undefined) this.#add({stored: current, at: clock.now().getTime()})
      }
      if (!this.#hasFailed && this.#nextExcess() !== undefined) void this.sweep()
    })
  }

  /** Sweeps regularly; returns a function that stops it. */
  start(): () => void {
    return every(EVERY, () => this.sweep())
  }

  /** Deletes what is due. One sweep runs at a time. */
  sweep(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch(this.#onError)
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  async #sweep(): Promise<void> {
    for (;;) {
      const due = this.#takeDue()
      if (due.length === 0) return
      const outcomes = await Promise.allSettled(due.map((known) => this.#delete(known)))
      this.#putBack(due.filter((_, index) => outcomes[index]?.status === 'rejected'))
      const failure = outcomes.find((outcome) => outcome.status === 'rejected')
      this.#hasFailed = failure !== undefined
      if (failure) throw failure.reason
    }
  }

  #takeDue(): Known[] {
    const due: Known[] = []
    while (due.length < TOGETHER) {
      const key = this.#nextExpired() ?? this.#nextExcess()
      const known = this.#known.get(key ?? '')
      if (key === undefined || known === undefined) break
      this.#remove(key)
      due.push(known)
    }
    return due
  }

  #nextExpired(): string | undefined {
    const [first] = this.#known
    const latest = this.#clock.now().getTime() - this.#limits.milliseconds
    return first !== undefined && first[1].at <= latest ? first[0] : undefined
  }

  /** The oldest of a namespace with too many, or of all if they take too many bytes. */
  #nextExcess(): string | undefined {
    if (this.#bytes > this.#limits.bytes) return this.#known.keys().next().value
    const [namespace] = this.#crowded
    return namespace === undefined
      ? undefined
      : this.#byNamespace.get(namespace)?.values().next().value
  }

  async #delete(known: Known): Promise<void> {
    const {namespace, name, revision} = known.stored
    const key = this.#registry.store('', 'events')?.storageKey(namespace, name) ?? ''
    try {
      await this.#registry.storage.delete(key, revision)
    } catch (error) {
      // Changed or deleted in the meantime: the event has updated the list.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
  }

  /** They are still the oldest. What has changed meanwhile was counted as it is now, and what is gone counts no more. */
  #putBack(failed: Known[]): void {
    if (failed.length === 0) return
    const store = this.#registry.store('', 'events')
    const newer = [...this.#known.values()]
    for (const {stored} of newer) this.#remove(stored.key)
    for (const known of failed) {
      const {namespace, name, revision} = known.stored
      if (store?.get(namespace, name)?.revision === revision) this.#add(known)
    }
    for (const known of newer) this.#add(known)
  }

  #add(known: Known): void {
    const {key, namespace, json} = known.stored
    this.#known.set(key, known)
    const keys = (this.#byNamespace.get(namespace) ?? new Set()).add(key)
    this.#byNamespace.set(namespace, keys)
    if (keys.size > this.#limits.count) this.#crowded.add(namespace)
    this.#bytes += json.length
  }

  #remove(key: string): void {
    const known = this.#known.get(key)
    if (known === undefined) return
    this.#known.delete(key)
    this.#bytes -= known.stored.json.length
    const {namespace} = known.stored
    const keys = this.#byNamespace.get(namespace) ?? new Set()
    keys.delete(key)
    if (keys.size === 0) this.#byNamespace.delete(namespace)
    if (keys.size <= this.#limits.count) this.#crowded.delete(namespace)
  }
}

/** For an Event that was stored before this start: the latest time that the server wrote into it; never later than now. */
function writtenAt(stored: StoredObject, now: Date): number {
  const {metadata} = parse(stored) as Event
  const noted = [
    metadata.creationTimestamp,
    ...(metadata.managedFields ?? []).map(({time}) => time),
  ]
  const times = noted.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time))
  return Math.min(now.getTime(), Math.max(0, ...times))
}
