import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiObject} from '../api/meta.ts'
import type {ApiClient} from '../client/api-client.ts'
import {shellWord} from '../client/printable.ts'
import type {DeleteOptions, ObjectRef} from '../client/resource-client.ts'
import {readRecord, recordKey} from '../controllers/approval/node-record.ts'
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

type Clients = Pick<ApiClient, 'nodes' | 'configMaps' | 'csrs'>

const MAX_TRIES = 5

/**
 * Deletes the Node and the record of its name, as far as the caller's rights allow. Kubernetes lets no node delete itself, so with the
 * node's own certificate both are usually kept. Another machine may take the name meanwhile: only what was read while the name was this
 * machine's is deleted, and if that has changed, everything is read again.
 */
export async function forgetNode(
  clients: Clients,
  name: string,
  pin: string | undefined,
): Promise<Forgotten> {
  let node: Removal | undefined
  for (let tries = 1; ; tries++) {
    const seen = await lookAtNode(clients, name, pin)
    if (seen === 'of another machine') {
      const reason = 'the name now belongs to another machine'
      return {node: node ?? 'kept', record: 'kept', reason, commands: [], rejoin: null}
    }
    try {
      node ??= await remove(clients.nodes, seen.node)
      const record = await remove(clients.configMaps, seen.record)
      const isKept = node === 'kept' || record === 'kept'
      const isFree = !isKept && (await forgetRequests(clients, seen.requests))
      return {
        node,
        record,
        rejoin: isFree ? null : rejoinCommand(name),
        reason: isKept ? 'the credentials of this node do not allow it' : null,
        commands: commandsFor(name, {node, record}),
      }
    } catch (error) {
      if (!hasCode(error, 'CONFLICT') || tries === MAX_TRIES) throw error
    }
  }
}

/** Undefined: there is none. */
type Seen = ApiObject | undefined | 'forbidden'

/** The record is read last: the Node and the requests are older, and what another machine makes of them later conflicts. */
async function lookAtNode(
  {nodes, configMaps, csrs}: Clients,
  name: string,
  pin: string | undefined,
): Promise<{node: Seen; record: Seen; requests: Seen[]} | 'of another machine'> {
  const node = await readable(() => nodes.find(name))
  const requests = await approvedRequests({csrs}, name)
  const record = await readable(() => configMaps.find(recordKey(name)))
  const {holder, previous} = record && record !== 'forbidden' ? readRecord(record) : {}
  const isOthers = holder !== undefined && holder !== pin && previous?.pin !== pin
  if (pin !== undefined && isOthers) return 'of another machine'
  return {node, record, requests}
}

async function readable<T>(read: () => Promise<T>): Promise<T | 'forbidden'> {
  try {
    return await read()
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return 'forbidden'
    throw error
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

/** Requests that were approved keep the name taken while they exist. */
async function approvedRequests({csrs}: Pick<Clients, 'csrs'>, name: string): Promise<Seen[]> {
  const found: ApiObject[] = []
  const onPage = (items: CertificateSigningRequest[]) => {
    for (const csr of items) {
      const {node, signer} = requestedCertificate(csr) ?? {}
      if (node === name && signer === KUBELET_CLIENT && isApproved(csr)) {
        found.push({metadata: csr.metadata})
      }
    }
  }
  const listed = await readable(() => csrs.list({onPage}))
  return listed === 'forbidden' ? [listed] : found
}

/** Returns false if the caller may not delete them. */
async function forgetRequests({csrs}: Pick<Clients, 'csrs'>, requests: Seen[]): Promise<boolean> {
  for (const one of requests) if ((await remove(csrs, one)) === 'kept') return false
  return true
}

const commandsFor = (node: string, states: Pick<Forgotten, 'node' | 'record'>): string[] => {
  const {namespace, name} = recordKey(node)
  return [
    ...(states.node === 'kept' ? [`kubectl delete node ${shellWord(node)}`] : []),
    ...(states.record === 'kept'
      ? [`kubectl --namespace ${namespace} delete configmap ${shellWord(name)} --ignore-not-found`]
      : []),
  ]
}

/** Deletes an object if it is still as it was seen. */
async function remove(
  client: {delete: (ref: ObjectRef, options: DeleteOptions) => Promise<void>},
  seen: Seen,
): Promise<Removal> {
  if (seen === undefined) return 'absent'
  if (seen === 'forbidden') return 'kept'
  const {name = '', namespace, uid, resourceVersion} = seen.metadata
  try {
    await client.delete({name, namespace}, {uid, resourceVersion})
    return 'deleted'
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return 'absent'
    if (hasCode(error, 'FORBIDDEN')) return 'kept'
    throw error
  }
}
