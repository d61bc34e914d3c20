import type {Pod} from '../../../api/pod.ts'
import {denied} from '../../kernel/admission.ts'
import {semanticallyEqual} from '../../validation/values.ts'
import {admitMirrorPod} from './mirror-pods.ts'
import {quoted, requireThat, type NodeWriteRule} from './node-write.ts'

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
