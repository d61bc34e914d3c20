import {isDeepStrictEqual} from 'node:util'
import type {ApiObject, OwnerReference} from '../api/meta.ts'
import type {ApiClient} from '../client/api-client.ts'
import type {ResourceClient, ResourceType} from '../client/resource-client.ts'
import {hasCode} from '../errors.ts'
import type {ControllerSpec, Source} from './kernel/controller.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'

const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const LOOK_AGAIN = 1000

/** An object that has owners, or whose dependents have to be dealt with before it may go. */
interface OwnedObject {
  resource: ResourceType
  namespace: string
  name: string
  uid: string
  owners: readonly OwnerReference[]
  finalizers: readonly string[]
  isDeleting: boolean
}

/** Who belongs to whom, as the server knows it. */
export interface OwnershipView {
  /** Calls back with the id of each object that may have to be collected or let go. */
  subscribe(listener: (id: string) => void): () => void
  find(id: string): OwnedObject | undefined
  dependentsOf(uid: string): OwnedObject[]
  /** Undefined if the kind is not served: nobody can say whether such an owner exists. */
  resourceOf(owner: OwnerReference): ResourceType | undefined
}

type Client = Pick<ApiClient, 'resource'>
type Owners = Record<'solid' | 'gone' | 'waiting', OwnerReference[]>

const refOf = ({namespace, name}: OwnedObject) => ({name, ...(namespace !== '' && {namespace})})

/**
 * Kubernetes' garbage collector. Objects without any owner left are deleted; an owner that is deleted in the foreground stays until its
 * dependents are gone, and one that is deleted with "orphan" until they no longer name it. An owner counts as gone only if the
 * server says so when it is asked.
 */
function collectGarbage(ownership: OwnershipView, client: Client): Reconcile {
  return async (id, signal) => {
    const object = ownership.find(id)
    if (object === undefined) return DONE
    const work = new Collection(ownership, client, object, signal)
    if (object.isDeleting && object.finalizers.includes(ORPHAN)) return await work.orphan()
    if (object.isDeleting && object.finalizers.includes(FOREGROUND)) return await work.letGo()
    return object.isDeleting ? DONE : await work.collect()
  }
}

/** What is done about one object. */
class Collection {
  readonly #ownership: OwnershipView
  readonly #client: Client
  readonly #object: OwnedObject
  readonly #signal: AbortSignal

  constructor(ownership: OwnershipView, client: Client, object: OwnedObject, signal: AbortSignal) {
    this.#ownership = ownership
    this.#client = client
    this.#object = object
    this.#signal = signal
  }

  async orphan(): Promise<ReconcileResult> {
    const {uid} = this.#object
    // The server knows the dependents that others have created, once it has answered.
    if ((await this.#live(this.#object)) === undefined) return DONE
    for (const dependent of this.#ownership.dependentsOf(uid)) await this.#disown(dependent, [uid])
    return await this.#withoutFinalizer(ORPHAN)
  }

  /** Its dependents are told when it starts to wait; each of them is collected by itself. */
  async letGo(): Promise<ReconcileResult> {
    const dependents = this.#ownership.dependentsOf(this.#object.uid)
    const blocks = dependents.some(({owners}) =>
      owners.some((owner) => owner.uid === this.#object.uid && owner.blockOwnerDeletion === true),
    )
    return blocks ? {requeueAfter: LOOK_AGAIN} : await this.#withoutFinalizer(FOREGROUND)
  }

  async collect(): Promise<ReconcileResult> {
    const {uid, owners} = this.#object
    let found = await this.#classify(owners)
    if (found.gone.length + found.waiting.length === 0) return DONE
    // What is known here may be old: the object as it is now decides, and only that is deleted.
    const live = await this.#live(this.#object)
    if (live === undefined || live.deletionTimestamp !== undefined) return DONE
    const {ownerReferences = [], finalizers = [], resourceVersion} = live
    if (!isDeepStrictEqual(ownerReferences, owners)) found = await this.#classify(ownerReferences)
    const {solid, gone, waiting} = found
    if (gone.length + waiting.length === 0) return DONE
    if (solid.length > 0) {
      await this.#disown(
        this.#object,
        [...gone, ...waiting].map((owner) => owner.uid),
      )
      return DONE
    }
    const hasDependents = this.#ownership.dependentsOf(uid).length > 0
    const inForeground = waiting.length > 0 && hasDependents
    const propagationPolicy =
      inForeground || finalizers.includes(FOREGROUND)
        ? 'Foreground'
        : finalizers.includes(ORPHAN)
          ? 'Orphan'
          : 'Background'
    await this.#ignoringChanges(() =>
      this.#of(this.#object).delete(refOf(this.#object), {
        uid,
        resourceVersion,
        propagationPolicy,
        signal: this.#signal,
      }),
    )
    return DONE
  }

  async #classify(references: readonly OwnerReference[]): Promise<Owners> {
    const owners: Owners = {solid: [], gone: [], waiting: []}
    for (const owner of references) owners[await this.#stateOf(owner)].push(owner)
    return owners
  }

  /** What the server says of an object now; undefined if that is gone. */
  async #live(object: OwnedObject): Promise<ApiObject['metadata'] | undefined> {
    const found = await this.#of(object).find(refOf(object), {signal: this.#signal})
    return found?.metadata.uid === object.uid ? found.metadata : undefined
  }

  async #stateOf(owner: OwnerReference): Promise<keyof Owners> {
    const resource = this.#ownership.resourceOf(owner)
    const {namespace} = this.#object
    // An owner in another namespace is impossible: which one is meant is unknown, so it is left alone.
    if (resource === undefined || (resource.namespaced && namespace === '')) return 'solid'
    const place = resource.namespaced ? {namespace} : {}
    const options = {signal: this.#signal}
    const found = await this.#client.resource(resource).find({name: owner.name, ...place}, options)
    if (found?.metadata.uid !== owner.uid) return 'gone'
    const {deletionTimestamp, finalizers = []} = found.metadata
    return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'solid'
  }

  /** Takes these owners out of an object. */
  async #disown(dependent: OwnedObject, uids: readonly string[]): Promise<void> {
    await this.#change(dependent, ({ownerReferences = []}) => ({
      ownerReferences: ownerReferences.filter(({uid}) => !uids.includes(uid)),
    }))
  }

  async #withoutFinalizer(finalizer: string): Promise<ReconcileResult> {
    await this.#change(this.#object, ({finalizers = []}) => ({
      finalizers: finalizers.filter((one) => one !== finalizer),
    }))
    return DONE
  }

  /** Changes the metadata of the object as it is now. */
  async #change(
    object: OwnedObject,
    changed: (metadata: ApiObject['metadata']) => Partial<ApiObject['metadata']>,
  ): Promise<void> {
    const live = await this.#live(object)
    if (live === undefined) return
    const {uid, resourceVersion} = live
    const metadata = {uid, resourceVersion, ...changed(live)}
    const options = {type: 'merge' as const, signal: this.#signal}
    await this.#ignoringChanges(() => this.#of(object).patch(refOf(object), {metadata}, options))
  }

  /** Changed or deleted in the meantime: that event adds it again. */
  async #ignoringChanges(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
  }

  #of({resource}: OwnedObject): ResourceClient<ApiObject> {
    const {group, version, plural, namespaced} = resource
    return this.#client.resource({group, version, plural, namespaced})
  }
}

const sourceOf = (ownership: OwnershipView): Source => ({
  start({signal, enqueue}) {
    const leave = ownership.subscribe(enqueue)
    signal.addEventListener('abort', leave, {once: true})
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
})

export const garbageCollectorController = (
  writer: ApiClient,
  ownership: OwnershipView,
): ControllerSpec => ({
  name: 'garbage-collector',
  sources: [sourceOf(ownership)],
  reconcile: collectGarbage(ownership, writer),
  workers: 4,
})
