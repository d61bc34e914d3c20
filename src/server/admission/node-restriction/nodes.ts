import type {ApiObject} from '../../../api/meta.ts'
import {semanticallyEqual} from '../../validation/equality.ts'
import {forbiddenChanges} from './node-labels.ts'
import {quoted, requireThat, type NodeWrite, type NodeWriteRule} from './node-write.ts'

interface Taint {
  key?: string
  value?: string
  effect?: string
  timeAdded?: string | null
}

interface WrittenNode extends ApiObject {
  spec?: {configSource?: object; taints?: Taint[]}
}

const NOTHING: WrittenNode = {metadata: {}}

/** A node writes its own Node only, and nothing there that would draw workloads to it or let it be deleted. */
export const nodes: NodeWriteRule = (write) => {
  const {node, operation} = write
  const {verb, name} = operation
  requireThat(
    write,
    name === node,
    `node ${quoted(node)} is not allowed to modify node ${quoted(name)}`,
  )
  if (verb === 'create') admitCreate(write)
  else if (verb === 'update') admitUpdate(write)
}

function admitCreate(write: NodeWrite): void {
  const {metadata, spec} = (write.operation.object ?? NOTHING) as WrittenNode
  const name = quoted(write.node)
  requireThat(
    write,
    spec?.configSource === undefined,
    `node ${name} is not allowed to create pods with a non-nil configSource`,
  )
  // Kubernetes looks at updates only. Owned by something that is not there, a node would be deleted and could come back
  // with other taints: what CVE-2025-5187 did.
  requireThat(
    write,
    (metadata.ownerReferences ?? []).length === 0,
    `node ${name} is not allowed to set ownerReferences`,
  )
  const labels = forbiddenChanges(metadata.labels)
  requireThat(
    write,
    labels.length === 0,
    `node ${name} is not allowed to set the following labels: ${labels.join(', ')}`,
  )
}

function admitUpdate(write: NodeWrite): void {
  const next = (write.operation.object ?? NOTHING) as WrittenNode
  const old = (write.operation.old ?? NOTHING) as WrittenNode
  const name = quoted(write.node)
  const source = next.spec?.configSource
  requireThat(
    write,
    source === undefined || semanticallyEqual(source, old.spec?.configSource),
    `node ${name} is not allowed to update configSource to a new non-nil configSource`,
  )
  requireThat(
    write,
    semanticallyEqual(taintsOf(next), taintsOf(old)),
    `node ${name} is not allowed to modify taints`,
  )
  requireThat(
    write,
    semanticallyEqual(next.metadata.ownerReferences, old.metadata.ownerReferences),
    `node ${name} is not allowed to modify ownerReferences`,
  )
  const labels = forbiddenChanges(next.metadata.labels, old.metadata.labels)
  requireThat(write, labels.length === 0, `is not allowed to modify labels: ${labels.join(', ')}`)
}

/** Clients leave out what is empty. */
const taintsOf = ({spec}: WrittenNode) =>
  (spec?.taints ?? []).map(({key = '', value = '', effect = '', timeAdded}) => ({
    key,
    value,
    effect,
    timeAdded: timeAdded ?? '',
  }))
