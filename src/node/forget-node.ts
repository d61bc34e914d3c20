import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {shellWord} from '../client/printable.ts'
import {RECORD_NAMESPACE, readRecord, recordKey} from '../controllers/approval/node-record.ts'
import {isApproved} from '../csr/conditions.ts'
import {requestedCertificate} from '../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import {hasCode} from '../errors.ts'

type Removal = 'deleted' | 'absent' | 'kept'

/** What the cluster still knows of a node that leaves. */
export interface Forgotten {
  /** The Node. */
  node: Removal
  /** The record of which key holds the name. */
  record: Removal
  /** Why something was kept; null if nothing was. */
  reason: string | null
  /** What an operator can run to delete what was kept. */
  commands: string[]
  /** What an operator runs before a machine can join with the name again; null if it is free, or belongs to another machine. */
  rejoin: string | null
}

/**
 * Deletes the Node and the record of its name, as far as the caller's rights allow. Kubernetes lets no node delete itself, so with the
 * node's own certificate both are usually kept.
 */
export async function forgetNode(
  {nodes, leases, csrs}: Pick<ApiClient, 'nodes' | 'leases' | 'csrs'>,
  name: string,
  pin: string | undefined,
): Promise<Forgotten> {
  if (await belongsToAnother({leases}, name, pin)) {
    const reason = 'the name now belongs to another machine'
    return {node: 'kept', record: 'kept', reason, commands: [], rejoin: null}
  }
  const node = await remove(() => nodes.delete(name))
  const record = await remove(() => leases.delete(recordKey(name)))
  const isKept = node === 'kept' || record === 'kept'
  const isFree = !isKept && (await forgetRequests({csrs}, name))
  return {
    node,
    record,
    rejoin: isFree ? null : rejoinCommand(name),
    reason: isKept ? 'the credentials of this node do not allow it' : null,
    commands: commandsFor(name, {node, record}),
  }
}

/** For a node that cannot ask the cluster, or is not answered. */
export const notForgotten = (name: string, reason: string): Forgotten => ({
  node: 'kept',
  record: 'kept',
  reason,
  commands: commandsFor(name, {node: 'kept', record: 'kept'}),
  rejoin: rejoinCommand(name),
})

const rejoinCommand = (name: string): string =>
  `trustadm certificate allow-rejoin ${shellWord(name)}`

/** Requests that were approved keep the name taken while they exist. Returns false if the caller may not delete them. */
async function forgetRequests({csrs}: Pick<ApiClient, 'csrs'>, name: string): Promise<boolean> {
  const found: string[] = []
  const onPage = (items: CertificateSigningRequest[]) => {
    for (const csr of items) {
      const {node, signer} = requestedCertificate(csr) ?? {}
      if (node === name && signer === KUBELET_CLIENT && isApproved(csr)) {
        found.push(csr.metadata.name ?? '')
      }
    }
  }
  const listed = await remove(async () => {
    await csrs.list({onPage})
  })
  if (listed === 'kept') return false
  for (const one of found) if ((await remove(() => csrs.delete(one))) === 'kept') return false
  return true
}

const commandsFor = (node: string, states: Pick<Forgotten, 'node' | 'record'>): string[] => {
  const {name} = recordKey(node)
  return [
    ...(states.node === 'kept' ? [`kubectl delete node ${shellWord(node)}`] : []),
    ...(states.record === 'kept'
      ? [
          `kubectl --namespace ${RECORD_NAMESPACE} delete lease ${shellWord(name)} --ignore-not-found`,
        ]
      : []),
  ]
}

/** Whether an operator has let another machine take the name. Unknown to a node, which may not read the record. */
async function belongsToAnother(
  {leases}: Pick<ApiClient, 'leases'>,
  name: string,
  pin: string | undefined,
): Promise<boolean> {
  try {
    const lease = await leases.find(recordKey(name))
    const holder = lease && readRecord(lease).holder
    return pin !== undefined && holder !== undefined && holder !== pin
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return false
    throw error
  }
}

async function remove(work: () => Promise<void>): Promise<Removal> {
  try {
    await work()
    return 'deleted'
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return 'absent'
    if (hasCode(error, 'FORBIDDEN')) return 'kept'
    throw error
  }
}
