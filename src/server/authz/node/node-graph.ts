import type {ApiObject} from '../../../api/meta.ts'
import type {Pod} from '../../../api/pod.ts'
import type {PersistentVolume, SecretReference} from '../../../api/volumes.ts'
import {isMirrorPod, podReferences} from './pod-references.ts'

interface PodEdges {
  node: string
  objects: string[]
}

interface VolumeEdges {
  claim: string
  objects: string[]
}

const CLAIMS = 'persistentvolumeclaims'
const NO_VOLUMES: ReadonlySet<string> = new Set()

const keyOf = (plural: string, namespace: string, name: string) => `${plural}/${namespace}/${name}`

/**
 * Which objects a node has to do with, as Kubernetes' Node authorizer sees it. Every path (pod → node; secret, claim … →
 * pod; volume → claim; its secret → volume) is resolved to the node when it appears, so a check is one lookup in a map. The
 * objects need not exist.
 */
export class NodeGraph {
  readonly #edges: CountedEdges
  readonly #pods = new Map<string, PodEdges>()
  readonly #volumes = new Map<string, VolumeEdges>()
  readonly #volumesOfClaim = new Map<string, Set<string>>()

  /** `onLost` is called with a node that may reach less than before. */
  constructor(onLost: (node: string) => void = () => undefined) {
    this.#edges = new CountedEdges(onLost)
  }

  leadsTo(node: string, plural: string, namespace: string, name: string): boolean {
    return this.#edges.has(keyOf(plural, namespace, name), node)
  }

  /** A pod counts from when it has a node until it is deleted, whatever its phase. */
  upsertPod(pod: ApiObject): void {
    const {namespace = '', name = ''} = pod.metadata
    const key = keyOf('pods', namespace, name)
    const next = podEdges(pod, key)
    const before = this.#pods.get(key)
    // Most changes of a pod are of its status.
    if (sameEdges(before, next)) return
    if (before !== undefined) this.#dropPod(key, before)
    if (next === undefined) return
    this.#pods.set(key, next)
    for (const object of next.objects) this.#connect(object, next.node)
  }

  removePod(namespace: string, name: string): void {
    const key = keyOf('pods', namespace, name)
    const before = this.#pods.get(key)
    if (before !== undefined) this.#dropPod(key, before)
  }

  upsertVolume(volume: ApiObject): void {
    const name = volume.metadata.name ?? ''
    this.removeVolume(name)
    const next = volumeEdges(volume, name)
    if (next === undefined) return
    this.#volumes.set(name, next)
    const siblings = this.#volumesOfClaim.get(next.claim) ?? new Set()
    this.#volumesOfClaim.set(next.claim, siblings.add(name))
    for (const node of this.#edges.nodesOf(next.claim)) {
      for (const object of next.objects) this.#edges.add(object, node)
    }
  }

  removeVolume(name: string): void {
    const before = this.#volumes.get(name)
    if (before === undefined) return
    this.#volumes.delete(name)
    const siblings = this.#volumesOfClaim.get(before.claim)
    siblings?.delete(name)
    if (siblings?.size === 0) this.#volumesOfClaim.delete(before.claim)
    for (const node of this.#edges.nodesOf(before.claim)) {
      for (const object of before.objects) this.#edges.remove(object, node)
    }
  }

  #dropPod(key: string, {node, objects}: PodEdges): void {
    this.#pods.delete(key)
    for (const object of objects) this.#disconnect(object, node)
  }

  /** The first pod of a node with a claim adds the claim's volumes; the last one removes them. */
  #connect(object: string, node: string): void {
    const isNew = !this.#edges.has(object, node)
    this.#edges.add(object, node)
    if (!isNew) return
    for (const behind of this.#behindClaim(object)) this.#edges.add(behind, node)
  }

  #disconnect(object: string, node: string): void {
    this.#edges.remove(object, node)
    if (this.#edges.has(object, node)) return
    for (const behind of this.#behindClaim(object)) this.#edges.remove(behind, node)
  }

  *#behindClaim(claim: string): Generator<string> {
    for (const volume of this.#volumesOfClaim.get(claim) ?? NO_VOLUMES) {
      yield* this.#volumes.get(volume)?.objects ?? []
    }
  }
}

function podEdges(pod: Pod, key: string): PodEdges | undefined {
  const node = pod.spec?.nodeName ?? ''
  if (node === '') return undefined
  // A node writes its own mirror pods: what they refer to must not become readable that way.
  if (isMirrorPod(pod)) return {node, objects: [key]}
  const namespace = pod.metadata.namespace ?? ''
  const objects = Object.entries(podReferences(pod)).flatMap(([plural, names]) =>
    (names as string[]).map((name) => keyOf(plural, namespace, name)),
  )
  return {node, objects: [key, ...objects]}
}

function volumeEdges(volume: PersistentVolume, name: string): VolumeEdges | undefined {
  const claim = volume.spec?.claimRef
  if (claim === undefined) return undefined
  const secrets = volumeSecrets(volume).map((secret) =>
    keyOf('secrets', secret.namespace, secret.name),
  )
  return {
    claim: keyOf(CLAIMS, claim.namespace ?? '', claim.name ?? ''),
    objects: [keyOf('persistentvolumes', '', name), ...secrets],
  }
}

function sameEdges(a: PodEdges | undefined, b: PodEdges | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return (
    a.node === b.node &&
    a.objects.length === b.objects.length &&
    a.objects.every((object, index) => object === b.objects[index])
  )
}

/** The secrets that a kubelet mounts a volume with; those of its controllers are not for nodes. */
function volumeSecrets({spec = {}}: PersistentVolume): Required<SecretReference>[] {
  const {azureFile, csi, cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos} = spec
  // Kubernetes stores null where a scaleIO volume has no reference.
  const references: (SecretReference | null | undefined)[] = [
    azureFile && {
      ...(azureFile.secretName === undefined ? {} : {name: azureFile.secretName}),
      ...(azureFile.secretNamespace === undefined ? {} : {namespace: azureFile.secretNamespace}),
    },
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map(
      (source) => source?.secretRef,
    ),
  ]
  // A reference without a namespace means that of the claim.
  const home = spec.claimRef?.namespace ?? ''
  return references
    .map((reference) => reference ?? {})
    .map(({name = '', namespace = ''}) => ({
      name,
      namespace: namespace === '' ? home : namespace,
    }))
    .filter(({name, namespace}) => name !== '' && namespace !== '')
}

/** Counts how often each object leads to each node: an edge is removed with its last cause. */
class CountedEdges {
  readonly #onLost: (node: string) => void
  readonly #counts = new Map<string, Map<string, number>>()

  /** `onLost` is called with a node that an object no longer leads to. */
  constructor(onLost: (node: string) => void) {
    this.#onLost = onLost
  }

  has(from: string, node: string): boolean {
    return this.#counts.get(from)?.has(node) === true
  }

  nodesOf(from: string): Iterable<string> {
    return this.#counts.get(from)?.keys() ?? []
  }

  add(from: string, node: string): void {
    const nodes = this.#counts.get(from) ?? new Map<string, number>()
    this.#counts.set(from, nodes.set(node, (nodes.get(node) ?? 0) + 1))
  }

  remove(from: string, node: string): void {
    const nodes = this.#counts.get(from)
    const count = nodes?.get(node)
    if (nodes === undefined || count === undefined) return
    if (count > 1) {
      nodes.set(node, count - 1)
      return
    }
    nodes.delete(node)
    if (nodes.size === 0) this.#counts.delete(from)
    this.#onLost(node)
  }
}
