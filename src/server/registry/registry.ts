import type {ApiObject} from '../../api/meta.ts'
import type {Storage, StorageEvent} from '../../storage/storage.ts'
import type {ObjectReader, Resource} from '../kernel/resource.ts'
import {ResourceStore, STORE_ROOT} from './resource-store.ts'
import {parse} from './stored-object.ts'
import {WindowBudget} from './window-budget.ts'

/** Every stored resource's memory, fed by the store's events. */
export class Registry implements ObjectReader {
  readonly storage: Storage
  readonly #stores = new Map<string, ResourceStore>()
  readonly #byPrefix = new Map<string, ResourceStore>()
  #stop: () => void = () => undefined
  #revision = 0

  private constructor(storage: Storage, resources: readonly Resource[]) {
    this.storage = storage
    const budget = new WindowBudget()
    for (const resource of resources) {
      if (resource.review !== undefined) continue
      const store = new ResourceStore(resource, budget)
      this.#stores.set(idOf(resource.group, resource.plural), store)
      this.#byPrefix.set(store.prefix, store)
    }
  }

  /** Reads everything into memory, then follows the store. What cannot be read is left in the store, and said. */
  static async open(
    storage: Storage,
    resources: readonly Resource[],
    onUnreadable: (key: string) => void = () => undefined,
  ): Promise<Registry> {
    const registry = new Registry(storage, resources)
    const early: StorageEvent[][] = []
    let loaded = false
    const {revision, stop} = storage.subscribe(STORE_ROOT, (events) => {
      if (loaded) registry.#apply(events)
      else early.push(events)
    })
    registry.#stop = stop
    registry.#revision = revision
    for (const store of registry.#stores.values())
      registry.#revision = Math.max(registry.#revision, await store.load(storage, onUnreadable))
    loaded = true
    for (const events of early) {
      registry.#apply(
        events.filter((event) => event.revision > (registry.#storeOf(event.key)?.log.since ?? 0)),
      )
    }
    return registry
  }

  /** The newest revision that memory has seen. */
  get revision(): number {
    return this.#revision
  }

  get stores(): Iterable<ResourceStore> {
    return this.#stores.values()
  }

  store(group: string, plural: string): ResourceStore | undefined {
    return this.#stores.get(idOf(group, plural))
  }

  get(plural: string, group: string, namespace: string, name: string): ApiObject | undefined {
    return this.store(group, plural)?.read(namespace, name)
  }

  list(plural: string, group: string, namespace = ''): ApiObject[] {
    const store = this.store(group, plural)
    return store === undefined ? [] : Array.from(store.range(namespace), parse)
  }

  /** Follows the store no longer, and ends the watches that are still open. */
  close(): void {
    this.#stop()
    for (const store of this.#stores.values()) store.log.close()
  }

  #apply(events: StorageEvent[]): void {
    const changes = new Map<ResourceStore, StorageEvent[]>()
    for (const event of events) {
      this.#revision = Math.max(this.#revision, event.revision)
      const store = this.#storeOf(event.key)
      if (store === undefined) continue
      const list = changes.get(store)
      if (list === undefined) changes.set(store, [event])
      else list.push(event)
    }
    for (const [store, list] of changes) store.apply(list)
  }

  #storeOf(key: string): ResourceStore | undefined {
    const end = key.indexOf('/', key.indexOf('/', STORE_ROOT.length) + 1)
    return this.#byPrefix.get(key.slice(0, end + 1))
  }
}

const idOf = (group: string, plural: string) => `${group}/${plural}`
