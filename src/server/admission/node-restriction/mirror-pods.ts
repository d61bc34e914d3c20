import type {OwnerReference} from '../../../api/meta.ts'
import type {Pod} from '../../../api/pod.ts'
import {isMirrorPod, podReferences} from '../../authz/node/pod-references.ts'
import {notFound} from '../../kernel/status.ts'
import {denied} from '../../kernel/admission.ts'
import {quoted, requireThat, type NodeWrite} from './node-write.ts'

/** In the order in which they are checked. */
const WORDS = [
  ['serviceaccounts', 'a service account'],
  ['secrets', 'secrets'],
  ['configmaps', 'configmaps'],
  ['persistentvolumeclaims', 'persistentvolumeclaims'],
] as const

/** A mirror pod shows what a node runs on its own. It belongs to the node, runs on it, and refers to nothing else. */
export function admitMirrorPod(write: NodeWrite): void {
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
