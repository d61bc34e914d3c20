import type {OwnerReference} from '../api/meta.ts'
import {groupVersion, type Resource} from './kernel/resource.ts'
import type {Registry} from './registry/registry.ts'
import type {ResourceStore} from './registry/resource-store.ts'
import type {StoredObject} from './registry/stored-object.ts'

/** An object that has owners, or whose dependents have to be dealt with before it may go. */
export interface OwnedObject {
  resource: Resource
  namespace: string
  name: string
  uid: string
  owners: readonly OwnerReference[]
  finalizers: readonly string[]
  isDeleting: boolean
}

/** Kubernetes' garbage collector ignores Events too: they expire. */
const IGNORED = 'events'
const MAY_MATTER = ['"ownerReferences"', '"foregroundDeletion"', '"orphan"']

/**
 * Which objects belong to which others, followed commit by commit. Most objects have no owners and take no memory here: their text
 * shows that without being parsed.
 */
export class Ownership {
  readonly #objects = new Map<string, OwnedObject>()
  /** The ids of dependents, by the uid of an owner. */
  readonly #dependents = new Map<string, Set<string>>()
  readonly #kinds = new Map<string, Resource>()
  readonly #listeners = new Set<(id: string) => void>()

  follow(registry: Registry): void {
    for (const store of registry.stores) {
      const {resource} = store
      if (resource.plural === IGNORED) continue
      this.#kinds.set(`${groupVersion(resource)} ${resource.kind}`, resource)
      for (const stored of store.range('')) this.#put(store, stored)
      store.onEvents((events) => {
        for (const {current, previous} of events) {
          if (current !== undefined) this.#put(store, current)
          else if (previous !== undefined) this.#remove(store, previous)
        }
      })
    }
  }

  /** Calls back with the id of each object that may have to be collected or let go; first with all that are known. */
  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener)
    for (const id of this.#objects.keys()) listener(id)
    return () => void this.#listeners.delete(listener)
  }

  find(id: string): OwnedObject | undefined {
    return this.#objects.get(id)
  }

  dependentsOf(uid: string): OwnedObject[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((id) => this.#objects.get(id) ?? [])
  }

  /** The resource of an owner; undefined if it is not served. */
  resourceOf({
    apiVersion,
    kind,
  }: Pick<OwnerReference, 'apiVersion' | 'kind'>): Resource | undefined {
    return this.#kinds.get(`${apiVersion} ${kind}`)
  }

  #put({resource}: ResourceStore, stored: StoredObject): void {
    const id = idOf(resource, stored)
    const before = this.#objects.get(id)
    const matters = MAY_MATTER.some((text) => stored.json.includes(text))
    if (!matters) {
      if (before !== undefined) this.#forget(id, before)
      return
    }
    const {metadata} = stored.object
    const {uid = '', ownerReferences: owners = [], finalizers = []} = metadata
    if (before !== undefined) this.#forget(id, before)
    const isDeleting = metadata.deletionTimestamp !== undefined
    const {namespace, name} = stored
    this.#objects.set(id, {resource, namespace, name, uid, owners, finalizers, isDeleting})
    for (const owner of owners) {
      const ids = this.#dependents.get(owner.uid) ?? new Set()
      this.#dependents.set(owner.uid, ids.add(id))
    }
    this.#tell(id)
    // An owner that was deleted before, or begins to be, concerns those that belong to it.
    this.#tellDependents(uid)
  }

  #remove({resource}: ResourceStore, stored: StoredObject): void {
    const id = idOf(resource, stored)
    const before = this.#objects.get(id)
    if (before !== undefined) this.#forget(id, before)
    if (this.#dependents.size > 0) this.#tellDependents(stored.uid ?? '')
  }

  /** Its owners may have waited for it. */
  #forget(id: string, {owners}: OwnedObject): void {
    this.#objects.delete(id)
    for (const {uid} of owners) {
      const ids = this.#dependents.get(uid)
      ids?.delete(id)
      if (ids?.size === 0) this.#dependents.delete(uid)
    }
    if (owners.length === 0) return
    for (const [waiting, object] of this.#objects)
      if (object.isDeleting && owners.some(({uid}) => uid === object.uid)) this.#tell(waiting)
  }

  #tellDependents(uid: string): void {
    for (const id of this.#dependents.get(uid) ?? []) this.#tell(id)
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }
}

const idOf = ({group, plural}: Resource, {key}: StoredObject): string => `${group}/${plural}/${key}`
