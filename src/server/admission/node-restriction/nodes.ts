import type {Received} from '../../../api/meta.ts'
import type * as api from '../../../api/node.ts'
import {semanticallyEqual} from '../../validation/values.ts'
import {quoted, requireThat, type NodeWrite, type NodeWriteRule} from './node-write.ts'

type Node = Received<api.Node>

const NOTHING: Node = {metadata: {}}

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
  const {metadata, spec} = (write.operation.object ?? NOTHING) as Node
  const name = quoted(write.node)
  requireThat(
    write,
    spec?.configSource === undefined,
    `node ${name} is not allowed to create pods with a non-nil configSource`,
  )
  // Kubernetes checks updates only. A node with a missing owner would be deleted and could register again with other taints
  // (CVE-2025-5187).
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
  const next = (write.operation.object ?? NOTHING) as Node
  const old = (write.operation.old ?? NOTHING) as Node
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

/** Clients omit empty fields. */
const taintsOf = ({spec}: Node) =>
  (spec?.taints ?? []).map(({key = '', value = '', effect = '', timeAdded}) => ({
    key,
    value,
    effect,
    timeAdded: timeAdded ?? '',
  }))

const OWN_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io']

const isWithin = (domain: string, domains: readonly string[]) =>
  domains.some((one) => domain === one || domain.endsWith(`.${one}`))

/**
 * A node may not set Kubernetes' own labels on itself, except those that describe it: the others decide where workloads run,
 * above all `node-restriction.kubernetes.io/…`. Labels of other domains are free.
 */
function isForbidden(label: string): boolean {
  const slash = label.indexOf('/')
  const domain = slash === -1 ? '' : label.slice(0, slash)
  return (
    isWithin(domain, RESERVED_DOMAINS) && !isWithin(domain, OWN_DOMAINS) && !OWN_LABELS.has(label)
  )
}

type Labels = Record<string, string>

/** The labels, sorted, that differ and that the node may not change. */
export function forbiddenChanges(next: Labels = {}, old: Labels = {}): string[] {
  const keys = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...keys].filter((key) => next[key] !== old[key] && isForbidden(key)).sort()
}
