import type {OwnerReference} from '../../../api/meta.ts'
import type {Pod} from '../../../api/pod.ts'
import {isMirrorPod, podReferences} from '../../authz/node/pod-references.ts'
import {denied} from '../../kernel/admission.ts'
import {notFound} from '../../kernel/status.ts'
import {semanticallyEqual} from '../../validation/values.ts'
import {quoted, requireThat, type NodeWrite, type NodeWriteRule} from './node-write.ts'

/** In the order in which they are checked. */
const WORDS = [
  ['serviceaccounts', 'a service account'],
  ['secrets', 'secrets'],
  ['configmaps', 'configmaps'],
  ['persistentvolumeclaims', 'persistentvolumeclaims'],
] as const

/** A mirror pod shows what a node runs on its own. It belongs to the node, runs on it, and refers to nothing else. */
function admitMirrorPod(write: NodeWrite): void {
  const {node, operation} = write
  const pod = (operation.object ?? {metadata: {}}) as Pod
  const name = quoted(node)
  requireThat(
    write,
    isMirrorPod(pod),
    `pod does not have "kubernetes.io/config.mirror" annotation, node ${name} can only create mirror pods`,
  )
  requireThat(
    write,
    pod.spec?.nodeName === node,
    `node ${name} can only create pods with spec.nodeName set to itself`,
  )
  requireOwner(write, pod.metadata.ownerReferences ?? [])
  const thing = referenceOf(pod)
  if (thing !== undefined) {
    throw denied(operation, `node ${name} can not create pods that reference ${thing}`)
  }
}

function requireOwner(write: NodeWrite, owners: OwnerReference[]): void {
  const {node, context} = write
  const only = `node ${quoted(node)} can only create pods with`
  requireThat(write, owners.length <= 1, `${only} a single owner reference set to itself`)
  const [owner] = owners
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw denied(write.operation, `${only} an owner reference set to itself`)
  }
  requireThat(
    write,
    owner.controller === true,
    `${only} a controller owner reference set to itself`,
  )
  requireThat(
    write,
    owner.blockOwnerDeletion !== true,
    `node ${quoted(node)} must not set blockOwnerDeletion on an owner reference`,
  )
  const registered = context.objects.get('nodes', '', '', node)
  if (registered === undefined) throw notFound({group: '', plural: 'nodes'}, node)
  const {uid = ''} = registered.metadata
  requireThat(
    write,
    owner.uid === uid,
    `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`,
  )
}

/** The objects of the cluster that a pod refers to. Devices count too: CVE-2025-4563 reached them through a mirror pod. */
function referenceOf(pod: Pod): string | undefined {
  const references = podReferences(pod)
  const [, named] = WORDS.find(([plural]) => references[plural].length > 0) ?? []
  if (named !== undefined) return named
  const sources = (pod.spec?.volumes ?? []).flatMap(({projected}) => projected?.sources ?? [])
  if (sources.some(({clusterTrustBundle}) => clusterTrustBundle !== undefined)) {
    return 'clustertrustbundles'
  }
  if (sources.some(({podCertificate}) => podCertificate !== undefined)) return 'podcertificates'
  if (sources.some(({serviceAccountToken}) => serviceAccountToken !== undefined)) {
    return 'serviceaccounttokens'
  }
  return (pod.spec?.resourceClaims ?? []).length > 0 ? 'resourceclaims' : undefined
}

const placeOf = (pod: Pod | undefined) => pod?.spec?.nodeName ?? ''

const pod: NodeWriteRule = (write) => {
  const {node, operation} = write
  switch (operation.verb) {
    case 'create':
      admitMirrorPod(write)
      return
    case 'delete':
      requireThat(
        write,
        placeOf(operation.old) === node,
        `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`,
      )
      return
    default:
      throw denied(
        operation,
        `unexpected operation ${quoted(operation.verb.toUpperCase())}, node ${quoted(node)} can only create and delete mirror pods`,
      )
  }
}

/** A status update may change neither the pod's labels nor the devices that it was given. */
const podStatus: NodeWriteRule = (write) => {
  const {node, operation} = write
  const old = operation.old as Pod | undefined
  const next = operation.object as Pod | undefined
  const name = quoted(node)
  requireThat(
    write,
    placeOf(old) === node,
    `node ${name} can only update pod status for pods with spec.nodeName set to itself`,
  )
  requireThat(
    write,
    semanticallyEqual(old?.metadata.labels, next?.metadata.labels),
    `node ${name} cannot update labels through pod status`,
  )
  requireThat(
    write,
    semanticallyEqual(old?.status?.resourceClaimStatuses, next?.status?.resourceClaimStatuses),
    `node ${name} cannot update resource claim statues`,
  )
  requireThat(
    write,
    semanticallyEqual(
      old?.status?.extendedResourceClaimStatus,
      next?.status?.extendedResourceClaimStatus,
    ),
    `node ${name} cannot update extended resource claim status`,
  )
}

const eviction: NodeWriteRule = (write) => {
  const {node, operation} = write
  requireThat(
    write,
    placeOf(operation.old) === node,
    `node ${node} can only evict pods with spec.nodeName set to itself`,
  )
}

const SUBRESOURCES = new Map<string, NodeWriteRule>([
  ['', pod],
  ['status', podStatus],
  ['eviction', eviction],
])

/** A node creates mirror pods, reports the status of its own pods, and deletes them. */
export const pods: NodeWriteRule = (write) => {
  const {operation} = write
  const rule = SUBRESOURCES.get(operation.subresource)
  if (rule !== undefined) {
    rule(write)
    return
  }
  throw denied(
    operation,
    `unexpected pod subresource ${quoted(operation.subresource)}, only 'status' and 'eviction' are allowed`,
  )
}
