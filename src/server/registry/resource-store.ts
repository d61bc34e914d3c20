import type {ApiObject} from '../../api/meta.ts'
import type {Entry, PastEvent, Range, Storage, StorageEvent} from '../../storage/storage.ts'
import {groupVersion, type Resource} from '../kernel/resource.ts'
import {EventLog, ObjectEvent} from './event-log.ts'
import {SortedKeys} from './sorted-keys.ts'
import {fromEntry, isReadable, parse, type StoredObject} from './stored-object.ts'
import type {WindowBudget} from './window-budget.ts'

/** Once writers of one object have conflicted, lets them write in sequence, each on the result of the one before. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>()

  /** Waits for earlier writers; returns the function that lets the next one continue. */
  async take(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    let done: () => void = () => undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(key, mine)
    await before
    return () => {
      if (this.#last.get(key) === mine) this.#last.delete(key)
      done()
    }
  }
}

/** Changes kept in memory per resource; older ones are read from the store's history. */
const WINDOW = 4096

/** How much is read from the store at a time, before it becomes text. */
const LOAD_BYTES = 4 * 1024 * 1024

/** The prefix of all our keys in the store. */
export const STORE_ROOT = '/registry/'

/** All objects of one resource, in memory, updated from the store. */
export class ResourceStore {
  readonly resource: Resource
  /** The prefix of its keys in the store. */
  readonly prefix: string
  readonly apiVersion: string
  /** For writers that have conflicted on one object. */
  readonly turns = new KeyedLock()
  readonly #objects = new Map<string, StoredObject>()
  readonly #keys = new SortedKeys()
  readonly #listeners: ((events: ObjectEvent[]) => void)[] = []
  readonly log: EventLog
  readonly #onForeign: (key: string) => void
  #bytes = 0

  /** `onForeign` is called with keys under its prefix that are not objects of this server. */
  constructor(resource: Resource, budget: WindowBudget, onForeign: (key: string) => void) {
    this.resource = resource
    this.#onForeign = onForeign
    this.log = new EventLog(WINDOW, budget)
    this.prefix = `${STORE_ROOT}${resource.group === '' ? 'core' : resource.group}/${resource.plural}/`
    this.apiVersion = groupVersion(resource)
  }

  get size(): number {
    return this.#objects.size
  }

  /** The total length of the texts of its objects. */
  get bytes(): number {
    return this.#bytes
  }

  /** Reads what is stored at a revision, piece by piece. Objects that memory already has are kept. */
  async readAt(storage: Storage, revision: number): Promise<StoredObject[]> {
    const objects: StoredObject[] = []
    let after: string | undefined
    do {
      const {entries, remaining}: Range = await storage.list(this.prefix, {
        bytes: LOAD_BYTES,
        revision,
        ...(after === undefined ? {} : {after}),
      })
      for (const entry of entries) {
        const object = this.objectOf(entry)
        if (object !== undefined) objects.push(object)
      }
      after = remaining === 0 ? undefined : entries.at(-1)?.key
    } while (after !== undefined)
    return objects
  }

  /** Replaces memory by a state that was read as a whole. Watchers have missed changes and must start again. */
  reset(objects: readonly StoredObject[], revision: number): void {
    const events: ObjectEvent[] = []
    const gone = new Map(this.#objects)
    for (const object of objects) {
      const previous = this.#objects.get(object.key)
      gone.delete(object.key)
      if (object === previous) continue
      this.#put(object)
      events.push(new ObjectEvent(object.revision, object, previous))
    }
    for (const [path, object] of gone) {
      this.#remove(path)
      events.push(new ObjectEvent(revision, undefined, object.atRevision(revision)))
    }
    this.log.startAfter(revision)
    // For those who count what came before what: nothing comes after what is gone, and the rest is in the order in which it was written.
    const order = ({current}: ObjectEvent) => current?.revision ?? 0
    this.#notify(events.sort((one, other) => order(one) - order(other)))
  }

  /** Called back with every change, after it has been applied here. */
  onEvents(listener: (events: ObjectEvent[]) => void): void {
    this.#listeners.push(listener)
  }

  apply(changes: StorageEvent[]): void {
    const events = changes.flatMap((change) => this.#applyOne(change) ?? [])
    this.log.append(events)
    this.#notify(events)
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(this.keyOf(namespace, name))
  }

  /** The object, parsed; the caller may change it. */
  read(namespace: string, name: string): ApiObject | undefined {
    const stored = this.get(namespace, name)
    return stored === undefined ? undefined : parse(stored)
  }

  /** In the order of namespace and name, from one namespace or from all. */
  *range(namespace: string, after = ''): Generator<StoredObject> {
    for (const key of this.#keys.range(this.#within(namespace), after)) {
      const stored = this.#objects.get(key)
      if (stored !== undefined) yield stored
    }
  }

  /** How many objects `range` would return. */
  count(namespace: string, after: string): number {
    return this.#keys.count(this.#within(namespace), after)
  }

  #within(namespace: string): string {
    return this.resource.namespaced && namespace !== '' ? `${namespace}/` : ''
  }

  /** An object's key, without the resource's prefix. */
  keyOf(namespace: string, name: string): string {
    return this.resource.namespaced ? `${namespace}/${name}` : name
  }

  storageKey(namespace: string, name: string): string {
    return this.prefix + this.keyOf(namespace, name)
  }

  /** A stored entry as the object that memory has of it, with what selectors need, or else a new one. */
  objectOf(entry: Entry): StoredObject | undefined {
    const known = this.#objects.get(this.#pathOf(entry.key))
    return known?.revision === entry.revision ? known : this.decode(entry)
  }

  /** A stored entry as an object; undefined if it is not an object of this server. */
  decode(entry: Entry): StoredObject | undefined {
    if (this.#isPath(this.#pathOf(entry.key)) && isReadable(entry))
      return fromEntry(this.resource, entry, this.prefix)
    this.#onForeign(entry.key)
    return undefined
  }

  /** An event of the store as watchers see it, without applying it. Used to read history. */
  toEvent(change: PastEvent): ObjectEvent | undefined {
    return this.#eventOf(change, change.previous && this.decode(change.previous))
  }

  #applyOne(change: StorageEvent): ObjectEvent | undefined {
    const path = this.#pathOf(change.key)
    const event = this.#eventOf(change, this.#objects.get(path))
    if (event?.current !== undefined) this.#put(event.current)
    else this.#remove(path)
    return event
  }

  /** Undefined if the entry is not an object before or after the change. */
  #eventOf(
    {entry, revision}: StorageEvent,
    previous: StoredObject | undefined,
  ): ObjectEvent | undefined {
    const current = entry && this.decode(entry)
    if (current !== undefined) return new ObjectEvent(revision, current, previous)
    return previous && new ObjectEvent(revision, undefined, previous.atRevision(revision))
  }

  #notify(events: ObjectEvent[]): void {
    if (events.length > 0) for (const listener of this.#listeners) listener(events)
  }

  #pathOf(key: string): string {
    return key.slice(this.prefix.length)
  }

  #isPath(path: string): boolean {
    const parts = path.split('/')
    return parts.length === (this.resource.namespaced ? 2 : 1) && !parts.includes('')
  }

  #put(stored: StoredObject): void {
    const before = this.#objects.get(stored.key)
    if (before === undefined) this.#keys.add(stored.key)
    this.#objects.set(stored.key, stored)
    this.#bytes += stored.json.length - (before?.json.length ?? 0)
  }

  #remove(path: string): void {
    this.#bytes -= this.#objects.get(path)?.json.length ?? 0
    this.#objects.delete(path)
    this.#keys.delete(path)
  }
}
