import type {ApiObject} from '../api/meta.ts'
import {keyOf} from './object-key.ts'
import {compareResourceVersions} from './resource-version.ts'
import type {ObjectEvent} from './watch.ts'

/** An object as it was and as it is: added without `previous`, deleted without `current`. */
export interface Change<T> {
  /** `namespace/name`, or `name` of what has no namespace. */
  key: string
  previous?: T
  current?: T
}

/** A local copy of a resource. It only moves forward: an event older than what is known changes nothing. */
export class InformerStore<T extends ApiObject> {
  readonly #objects = new Map<string, T>()
  #resourceVersion = ''

  /** Where a watch goes on. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  values(): T[] {
    return [...this.#objects.values()]
  }

  entries(): [string, T][] {
    return [...this.#objects]
  }

  /** Takes a full, consistent list as the truth and says what it changed. */
  replace(items: readonly T[], resourceVersion: string): Change<T>[] {
    // A store that was set back to a backup gives the same versions out again, to other content.
    const setBack = compareResourceVersions(resourceVersion, this.#resourceVersion) < 0
    const listed = new Map(items.map((item) => [keyOf(item), item]))
    const gone = [...this.#objects].filter(([key]) => !listed.has(key))
    const changes: Change<T>[] = gone.map(([key, previous]) => ({key, previous}))
    for (const [key, current] of listed) {
      const previous = this.#objects.get(key)
      if (!previous) changes.push({key, current})
      else if (setBack || !sameVersion(previous, current)) changes.push({key, previous, current})
    }
    for (const change of changes) this.#set(change)
    this.#resourceVersion = resourceVersion
    return changes
  }

  /** Takes one event of a watch; undefined where it told nothing new. */
  take({type, object}: ObjectEvent<T>): Change<T> | undefined {
    const version = object.metadata.resourceVersion ?? ''
    if (compareResourceVersions(version, this.#resourceVersion) < 0) return undefined
    this.#resourceVersion = version
    if (type === 'BOOKMARK') return undefined

    const key = keyOf(object)
    const previous = this.#objects.get(key)
    if (type === 'DELETED') return previous && this.#set({key, previous})
    if (previous && sameVersion(previous, object)) return undefined
    return this.#set(previous ? {key, previous, current: object} : {key, current: object})
  }

  #set(change: Change<T>): Change<T> {
    if (change.current) this.#objects.set(change.key, change.current)
    else this.#objects.delete(change.key)
    return change
  }
}

function sameVersion(one: ApiObject, other: ApiObject): boolean {
  return (
    one.metadata.resourceVersion === other.metadata.resourceVersion &&
    one.metadata.uid === other.metadata.uid
  )
}
