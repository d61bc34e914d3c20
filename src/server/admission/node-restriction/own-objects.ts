import type {CertificateSigningRequest} from '../../../api/certificates.ts'
import type {ApiObject} from '../../../api/meta.ts'
import {nodeUser} from '../../../csr/node-names.ts'
import {requestOf} from '../../../csr/read-request.ts'
import {isKubeletSigner} from '../../../csr/signers.ts'
import {denied} from '../../kernel/admission.ts'
import {semanticallyEqual} from '../../validation/values.ts'
import {requireThat, quoted, type NodeWriteRule} from './node-write.ts'

const LEASE_NAMESPACE = 'kube-node-lease'

/** A node's lease has its name. */
export const leases: NodeWriteRule = (write) => {
  requireThat(
    write,
    write.context.namespace === LEASE_NAMESPACE,
    `can only access leases in the "${LEASE_NAMESPACE}" system namespace`,
  )
  requireThat(
    write,
    write.operation.name === write.node,
    'can only access node lease with the same name as the requesting node',
  )
}

/** A node's CSINode has its name. */
export const csiNodes: NodeWriteRule = (write) =>
  requireThat(
    write,
    write.operation.name === write.node,
    'can only access CSINode with the same name as the requesting node',
  )

/** What a node reports when it mounts or resizes a volume. */
const OWN_FIELDS = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']
const SERVER_FIELDS = ['resourceVersion', 'managedFields', 'generation']

type Fields = Record<string, unknown>

const without = (fields: unknown, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !names.includes(name)))

/** The parts of a claim that only others write. */
const othersOf = ({metadata, spec, status}: ApiObject): Record<string, Fields> => ({
  metadata: without(metadata, SERVER_FIELDS),
  spec: without(spec, []),
  status: without(status, OWN_FIELDS),
})

/** In a claim, a node writes only the new size of its volume. */
export const claims: NodeWriteRule = (write) => {
  const {node, operation} = write
  requireThat(write, operation.subresource === 'status', 'may only update PVC status')
  const next = othersOf(operation.object ?? {metadata: {}})
  const old = othersOf(operation.old ?? {metadata: {}})
  const changed = Object.keys(old).flatMap((part) => changedFields(part, next[part], old[part]))
  requireThat(
    write,
    changed.length === 0,
    `node ${quoted(node)} is not allowed to update fields other than status.capacity and status.conditions: ${changed.join(', ')}`,
  )
}

function changedFields(part: string, next: Fields = {}, old: Fields = {}): string[] {
  const names = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...names]
    .filter((name) => !semanticallyEqual(next[name], old[name]))
    .map((name) => `${part}.${name}`)
    .sort()
}

/** A node asks for kubelet certificates in its own name only; other signers have their own rules. */
export const certificateRequests: NodeWriteRule = (write) => {
  const {node, operation} = write
  if (operation.verb !== 'create' || operation.subresource !== '') return
  const csr = (operation.object ?? {}) as Partial<CertificateSigningRequest>
  if (!isKubeletSigner(csr.spec?.signerName)) return
  const verdict = requestOf(csr)
  if ('why' in verdict) throw denied(operation, `unable to parse csr: ${verdict.why}`)
  const wanted = nodeUser(node)
  requireThat(
    write,
    verdict.request.subject.commonName === wanted,
    `can only create a node CSR with CN=${wanted}`,
  )
}
