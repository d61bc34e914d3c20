import type {ApiObject} from '../../api/meta.ts'
import type {Storage, StorageEvent} from '../../storage/storage.ts'
import {groupVersion, type Resource} from '../kernel/resource.ts'
import {EventLog, ObjectEvent} from './event-log.ts'
import {SortedKeys} from './sorted-keys.ts'
import {fromEntry, isReadable, parse, type StoredObject} from './stored-object.ts'
import type {WindowBudget} from './window-budget.ts'
import {WriteTurns} from './write-turns.ts'

/** Changes kept in memory per resource; older ones are read from the store's history. */
const WINDOW = 4096

/** So much is read from the store at a time, before it becomes text. */
const LOAD_BYTES = 4 * 1024 * 1024

/** Where the keys of every resource begin in the store. */
export const STORE_ROOT = '/registry/'

/** All objects of one resource, in memory, kept in step with the store. */
export class ResourceStore {
  readonly resource: Resource
  /** Where its keys begin in the store. */
  readonly prefix: string
  readonly apiVersion: string
  /** For writers that have met on one object. */
  readonly turns = new WriteTurns()
  readonly #objects = new Map<string, StoredObject>()
  readonly #keys = new SortedKeys()
  readonly #listeners: ((events: ObjectEvent[]) => void)[] = []
  readonly log: EventLog
  #bytes = 0

  constructor(resource: Resource, budget: WindowBudget) {
    this.resource = resource
    this.log = new EventLog(WINDOW, budget)
    this.prefix = `${STORE_ROOT}${resource.group === '' ? 'core' : resource.group}/${resource.plural}/`
    this.apiVersion = groupVersion(resource)
  }

  get size(): number {
    return this.#objects.size
  }

  /** How long the texts of all its objects are. */
  get bytes(): number {
    return this.#bytes
  }

  /** Reads what is stored, piece by piece, and returns the revision of that. Called once, before any event. */
  async load(storage: Storage, onUnreadable: (key: string) => void): Promise<number> {
    let page = await storage.list(this.prefix, {bytes: LOAD_BYTES})
    const {revision} = page
    for (;;) {
      for (const entry of page.entries) {
        if (isReadable(entry)) this.#put(fromEntry(this.resource, entry, this.prefix))
        else onUnreadable(entry.key)
      }
      const after = page.entries.at(-1)?.key
      if (page.remaining === 0 || after === undefined) break
      page = await storage.list(this.prefix, {bytes: LOAD_BYTES, revision, after})
    }
    this.log.startAfter(revision)
    return revision
  }

  /** Called back with every change, after it has been applied here. */
  onEvents(listener: (events: ObjectEvent[]) => void): void {
    this.#listeners.push(listener)
  }

  apply(changes: StorageEvent[]): void {
    const events = changes.map((change) => this.#applyOne(change))
    this.log.append(events)
    for (const listener of this.#listeners) listener(events)
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

  /** How many objects `range` would give. */
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

  /** An event of the store as watchers see it, without applying it: for reading history. */
  toEvent(change: StorageEvent): ObjectEvent {
    const previous = change.previous && fromEntry(this.resource, change.previous, this.prefix)
    return this.#eventOf(change, previous)
  }

  #applyOne(change: StorageEvent): ObjectEvent {
    const path = change.key.slice(this.prefix.length)
    const event = this.#eventOf(change, this.#objects.get(path))
    if (event.current !== undefined) this.#put(event.current)
    else this.#remove(path)
    return event
  }

  #eventOf({entry, revision}: StorageEvent, previous: StoredObject | undefined): ObjectEvent {
    if (entry === undefined)
      return new ObjectEvent(revision, undefined, previous?.atRevision(revision))
    return new ObjectEvent(revision, fromEntry(this.resource, entry, this.prefix), previous)
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
