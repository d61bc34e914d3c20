import type {ApiObject, HeldObject} from '../api/meta.ts'
import {EncodedObject, isSameState} from './encoded-object.ts'
import type {ReceivedEvent} from './watch.ts'

/** Compares two resourceVersions: since Kubernetes 1.35 they are decimal numbers, of any length. */
export function compareResourceVersions(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length
  return one < other ? -1 : Number(one > other)
}

/** An object as it was and as it is: added without `previous`, deleted without `current`. */
export interface Change<T> {
  /** `namespace/name`, or `name` of what has no namespace. */
  key: string
  previous?: T | undefined
  current?: T | undefined
  /** What holds the current state. */
  held?: HeldObject<T> | undefined
}

/** A change whose states are read when somebody looks at them. */
class LazyChange<T extends ApiObject> implements Change<T> {
  readonly key: string
  readonly held: HeldObject<T> | undefined
  readonly #previous: HeldObject<T> | undefined
  #current: T | undefined

  /** `current` is given if it has been read. */
  constructor(key: string, previous?: HeldObject<T>, held?: HeldObject<T>, current?: T) {
    this.key = key
    this.held = held
    this.#previous = previous
    this.#current = current
  }

  get previous(): T | undefined {
    return this.#previous?.object
  }

  get current(): T | undefined {
    return (this.#current ??= this.held?.object)
  }
}

/**
 * A local copy of a resource, which takes as much memory as its text. It only moves forward: an event older than what is
 * known changes nothing.
 */
export class InformerStore<T extends ApiObject> {
  readonly #objects = new Map<string, HeldObject<T>>()
  #resourceVersion = ''

  /** Where a watch goes on. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)?.object
  }

  has(key: string): boolean {
    return this.#objects.has(key)
  }

  values(): T[] {
    return Array.from(this.#objects.values(), ({object}) => object)
  }

  /** All that is there, as changes that add it. */
  additions(): Change<T>[] {
    return Array.from(this.#objects, ([key, kept]) => new LazyChange(key, undefined, kept))
  }

  /** Takes a full, consistent list as the truth and says what it changed. */
  replace(items: readonly HeldObject<T>[], resourceVersion: string): Change<T>[] {
    // A store that was set back to a backup gives the same versions out again, to other content.
    const setBack = compareResourceVersions(resourceVersion, this.#resourceVersion) < 0
    const listed = new Map(items.map((item) => [item.key, item]))
    const gone = [...this.#objects.keys()].filter((key) => !listed.has(key))
    const changes = gone.map((key) => this.#set(key, undefined))
    for (const [key, current] of listed) {
      const previous = this.#objects.get(key)
      if (previous === undefined || setBack || !isSameState(previous, current))
        changes.push(this.#set(key, current))
    }
    this.#resourceVersion = resourceVersion
    return changes
  }

  /** Takes one event of a watch; undefined if it told nothing new. */
  take(event: ReceivedEvent<T>): Change<T> | undefined {
    const {type, held} = event
    const version = (held ?? event.object.metadata).resourceVersion ?? ''
    if (compareResourceVersions(version, this.#resourceVersion) < 0) return undefined
    this.#resourceVersion = version
    if (type === 'BOOKMARK') return undefined

    const current = held ?? new EncodedObject(event.object)
    const previous = this.#objects.get(current.key)
    if (type === 'DELETED') return previous && this.#set(current.key, undefined)
    if (previous && isSameState(previous, current)) return undefined
    this.#set(current.key, current)
    // What has been read need not be read again.
    return new LazyChange(current.key, previous, current, held ? undefined : event.object)
  }

  #set(key: string, current: HeldObject<T> | undefined): Change<T> {
    const previous = this.#objects.get(key)
    if (current === undefined) this.#objects.delete(key)
    else this.#objects.set(key, current)
    return new LazyChange(key, previous, current)
  }
}
