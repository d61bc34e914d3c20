import {OWN_NAMESPACE} from '../../trust/own-namespace.ts'
import {insufficientStorage} from '../kernel/status.ts'
import type {ObjectEvent} from './event-log.ts'
import type {Registry} from './registry.ts'
import type {StoredObject} from './stored-object.ts'
import type {WriteTarget} from './write.ts'

const MIB = 1024 * 1024
/** Everything is also in memory, so it is less than etcd's. */
const DEFAULT_QUOTA = 512 * MIB
/** The part that nodes and tokens may fill: the rest is reserved for everyone else. */
const SHARE_OF_NODES = 1 / 4
/** A node's pods, which it can create itself as mirror pods: 500 of 30 kB. */
const PODS_OF_A_NODE = 16 * MIB

const NODE = 'system:node:'
const LITTLE_TRUSTED = ['system:nodes', 'system:bootstrappers']

/** How many bytes may be stored. Only writes that create an object or let it grow are refused; deleting always works. */
export class StoreQuota {
  readonly #registry: Registry
  readonly #bytes: number
  readonly #podsOf = new Map<string, number>()
  /** Of node names, one for each name that a token has asked for. */
  #records = 0

  constructor(registry: Registry, bytes = DEFAULT_QUOTA) {
    this.#registry = registry
    this.#bytes = bytes
    const pods = registry.store('', 'pods')
    for (const pod of pods?.range('') ?? []) this.#count(pod, 1)
    pods?.onEvents((events) => events.forEach((event) => this.#follow(event)))
    const maps = registry.store('', 'configmaps')
    for (const map of maps?.range(OWN_NAMESPACE) ?? []) this.#records += map.json.length
    maps?.onEvents((events) => events.forEach((event) => this.#countRecord(event)))
  }

  /** Throws if there is no room for this many more bytes. */
  require({store: {resource}, context: {user}}: WriteTarget, growth: number): void {
    if (growth <= 0) return
    if (this.#registry.bytes + growth > this.#bytes)
      throw insufficientStorage(
        `the store is full: its objects may take ${this.#bytes} bytes; delete some, or raise --quota-backend-bytes`,
      )
    if (!LITTLE_TRUSTED.some((group) => user.groups?.includes(group))) return
    const share = this.#bytes * SHARE_OF_NODES
    if (this.#ofNodes() + growth > share)
      throw insufficientStorage(
        `nodes and bootstrap tokens may store ${share} bytes in all, which are used up; an administrator has to delete some objects`,
      )
    const node = user.username.startsWith(NODE) ? user.username.slice(NODE.length) : ''
    if (resource.plural !== 'pods' || (this.#podsOf.get(node) ?? 0) + growth <= PODS_OF_A_NODE)
      return
    throw insufficientStorage(`the pods of node "${node}" may take at most ${PODS_OF_A_NODE} bytes`)
  }

  #ofNodes(): number {
    let bytes = this.#records
    for (const store of this.#registry.stores)
      if (store.resource.writtenByNodes === true) bytes += store.bytes
    return bytes
  }

  #follow({current, previous}: ObjectEvent): void {
    if (previous !== undefined) this.#count(previous, -1)
    if (current !== undefined) this.#count(current, 1)
  }

  #countRecord({current, previous}: ObjectEvent): void {
    if ((current ?? previous)?.namespace !== OWN_NAMESPACE) return
    this.#records += (current?.json.length ?? 0) - (previous?.json.length ?? 0)
  }

  #count(pod: StoredObject, sign: 1 | -1): void {
    const node = pod.fields['spec.nodeName'] ?? ''
    if (node === '') return
    const bytes = (this.#podsOf.get(node) ?? 0) + sign * pod.json.length
    if (bytes === 0) this.#podsOf.delete(node)
    else this.#podsOf.set(node, bytes)
  }
}
