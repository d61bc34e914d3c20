import type {ApiObject} from '../../api/meta.ts'
import {sleep} from '../../runtime.ts'
import type {Storage, StorageEvent} from '../../storage/storage.ts'
import type {ObjectReader, Resource, SharedObjects} from '../kernel/resource.ts'
import {MemoryAge, type MemoryAgeOptions} from './memory-age.ts'
import {ResourceStore, STORE_ROOT} from './resource-store.ts'
import {parse, type StoredObject} from './stored-object.ts'
import {WindowBudget} from './window-budget.ts'

/** Time between two attempts to read the whole store: it may be large or unreachable. */
const RELOAD_EVERY = 1000

type OnError = (message: string, error: unknown) => void

export interface RegistryOptions {
  /** What the newest changes of all resources may take. */
  windowBytes: number
  /** How old memory may be. */
  age?: MemoryAgeOptions | undefined
  onError?: OnError
}

/** How old a server's memory may be. */
export interface CacheState {
  revision: number
  age: number
}

/** The memory of every stored resource, updated by the store's events. */
export class Registry implements ObjectReader, SharedObjects {
  readonly storage: Storage
  /** The newest revision that memory has seen. */
  readonly reached = new ReachedRevision()
  /** Since when it may be behind. */
  readonly age: MemoryAge
  readonly #stores = new Map<string, ResourceStore>()
  readonly #byPrefix = new Map<string, ResourceStore>()
  readonly #closed = new AbortController()
  readonly #onError: OnError
  #stop: () => void = () => undefined
  /** When the whole store was last read again. */
  #reloadedAt = -Infinity

  private constructor(
    storage: Storage,
    resources: readonly Resource[],
    {onError = () => undefined, windowBytes, age}: RegistryOptions,
  ) {
    this.storage = storage
    this.age = new MemoryAge(age)
    this.#onError = onError
    const budget = new WindowBudget(windowBytes)
    const onForeign = (key: string) =>
      onError('left out of what is served', new Error(`${key} in the store cannot be read`))
    for (const resource of resources) {
      if (resource.review !== undefined) continue
      const store = new ResourceStore(resource, budget, onForeign)
      this.#stores.set(idOf(resource.group, resource.plural), store)
      this.#byPrefix.set(store.prefix, store)
    }
  }

  /** Reads everything into memory, then follows the store. What cannot be read is left in the store and reported. */
  static async open(
    storage: Storage,
    resources: readonly Resource[],
    options: RegistryOptions,
  ): Promise<Registry> {
    const registry = new Registry(storage, resources, options)
    await registry.#load()
    return registry
  }

  get revision(): number {
    return this.reached.value
  }

  /** What memory holds, and how many milliseconds ago that was known to be the newest state of the store. */
  cache(): CacheState {
    return {revision: this.revision, age: this.age.milliseconds}
  }

  get stores(): Iterable<ResourceStore> {
    return this.#stores.values()
  }

  /** The total length of the texts of all objects. */
  get bytes(): number {
    let bytes = 0
    for (const store of this.#stores.values()) bytes += store.bytes
    return bytes
  }

  store(group: string, plural: string): ResourceStore | undefined {
    return this.#stores.get(idOf(group, plural))
  }

  get(plural: string, group: string, namespace: string, name: string): ApiObject | undefined {
    return this.store(group, plural)?.read(namespace, name)
  }

  shared(plural: string, group: string, namespace: string, name: string): ApiObject | undefined {
    return this.store(group, plural)?.get(namespace, name)?.object
  }

  list(plural: string, group: string, namespace = ''): ApiObject[] {
    const store = this.store(group, plural)
    return store === undefined ? [] : Array.from(store.range(namespace), parse)
  }

  /** Stops following the store, and ends the open watches. */
  close(): void {
    this.#closed.abort()
    this.#stop()
    for (const store of this.#stores.values()) store.log.close()
  }

  /** Brings memory to one state of the store, in one step, and follows the store from there. */
  async #load(): Promise<void> {
    const asked = this.age.now()
    const revision = await this.storage.revision()
    const loaded: [ResourceStore, StoredObject[]][] = []
    for (const store of this.#stores.values())
      loaded.push([store, await store.readAt(this.storage, revision)])
    if (this.#closed.signal.aborted) return
    for (const [store, objects] of loaded) store.reset(objects, revision)
    this.reached.advance(revision)
    this.age.confirm(asked)
    this.#stop = this.storage.subscribe(STORE_ROOT, revision, {
      advance: (through, events) => this.#advance(through, events),
      lost: () => void this.#reload(),
    })
  }

  /** Until it succeeds, reads that must be current wait and then fail; all others read from memory. */
  async #reload(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const wait = this.#reloadedAt + RELOAD_EVERY - performance.now()
      try {
        if (wait > 0) await sleep(wait, this.#closed.signal)
        this.#reloadedAt = performance.now()
        return await this.#load()
      } catch (error) {
        if (!this.#closed.signal.aborted) this.#onError('cannot read the store again', error)
      }
    }
  }

  #advance(revision: number, events: StorageEvent[]): void {
    const changes = new Map<ResourceStore, StorageEvent[]>()
    for (const event of events) {
      const store = this.#storeOf(event.key)
      if (store === undefined) continue
      const list = changes.get(store)
      if (list === undefined) changes.set(store, [event])
      else list.push(event)
    }
    for (const [store, list] of changes) store.apply(list)
    this.reached.advance(revision)
  }

  #storeOf(key: string): ResourceStore | undefined {
    const end = key.indexOf('/', key.indexOf('/', STORE_ROOT.length) + 1)
    return this.#byPrefix.get(key.slice(0, end + 1))
  }
}

const idOf = (group: string, plural: string) => `${group}/${plural}`

/** A revision that only grows, and those who wait for a later one. */
class ReachedRevision {
  readonly #waiting = new Set<{revision: number; resolve: (reached: boolean) => void}>()
  #value = 0

  get value(): number {
    return this.#value
  }

  advance(revision: number): void {
    this.#value = Math.max(this.#value, revision)
    for (const waiter of this.#waiting) if (waiter.revision <= this.#value) waiter.resolve(true)
  }

  /** Waits for a revision; returns false if it is not reached after this many milliseconds. Throws the signal's reason. */
  async wait(revision: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(waiter)
      }
      const finish = (reached: boolean) => {
        end()
        resolve(reached)
      }
      const abort = () => {
        end()
        reject(signal?.reason as Error)
      }
      const timer = setTimeout(finish, milliseconds, false)
      const waiter = {revision, resolve: finish}
      this.#waiting.add(waiter)
      signal?.addEventListener('abort', abort, {once: true})
    })
  }
}
