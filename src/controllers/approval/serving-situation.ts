import type {Machine} from '../../api/machine.ts'
import type {Node} from '../../api/node.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {isUnknown, type Unknown} from '../../csr/opinion.ts'
import {plainIp} from '../../pki/ip-address.ts'
import {
  canonicalDns,
  machineOwner,
  registeredOf,
  type Owner,
  type Registered,
} from './address-book.ts'
import type {ApiServerFacts} from './api-server.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
  type IssuedIdentity,
  type NodeRecord,
} from './node-record.ts'
import {dnsNamesOf} from './machine-window.ts'
import type {NameOwners} from './reserved-names.ts'

/**
 * The node's Machines: those that refer to it, else those without a node that expect its name. The only rule for both certificates of a
 * node: what a Machine vouches for in a serving certificate, nobody gets a client certificate for without the inventory.
 */
export function machinesOf(node: string, machines: Iterable<Machine>): Machine[] {
  const all = [...machines]
  const refers = (machine: Machine) => machine.status?.nodeRef?.name
  const referring = all.filter((machine) => refers(machine) === node)
  if (referring.length > 0) return referring
  return all.filter(
    (machine) => (refers(machine) ?? '') === '' && dnsNamesOf(machine).includes(canonicalDns(node)),
  )
}

/** Who vouches for a node's names: its Machine if it has one, else the node itself. */
export type Voucher =
  {kind: 'Machine' | 'Node'; name: string; registered: Registered} | {kind: 'none'; why: string}

function voucherFor(
  name: string,
  {node, machines}: {node: Node | undefined; machines: readonly Machine[]},
): Voucher {
  const [machine, ...others] = machines
  if (others.length > 0) {
    const names = machines.map(({metadata}) => `"${metadata.name ?? ''}"`).join(', ')
    return {kind: 'none', why: `several Machines are of node "${name}": ${names}`}
  }
  if (machine !== undefined) {
    return {
      kind: 'Machine',
      name: machine.metadata.name ?? '',
      registered: registeredOf(machine.status?.addresses),
    }
  }
  if (node === undefined) {
    return {kind: 'none', why: `there is no Node and no Machine for "${name}" yet`}
  }
  return {kind: 'Node', name, registered: registeredOf(node.status?.addresses)}
}

/** By Kubernetes' and by trustadm's NodeRestriction no node may set it on itself. */
const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane'

/**
 * What a node has of the API server because it is one of them, by two records that no kubelet can write: its label, and the EndpointSlice in which
 * API servers keep their addresses. Which of those is its own, its Node says; so a machine of the control plane could take the address of
 * another one that no Node has registered, but a worker none.
 */
function ownedAsApiServer(
  node: Node | undefined,
  {endpoints, shared}: Pick<ApiServerFacts, 'endpoints' | 'shared'>,
): NameOwners['asApiServer'] {
  const {name = '', labels = {}} = node?.metadata ?? {}
  if (node === undefined || !(CONTROL_PLANE_LABEL in labels)) return undefined
  const registered = registeredOf(node.status?.addresses)
  const addresses = [...registered].filter((form) => endpoints.has(form))
  const own = canonicalDns(name)
  const isNameShared = own === shared || plainIp(own) !== undefined
  return new Set(addresses.length === 0 || isNameShared ? addresses : [...addresses, own])
}

/** To whom a node's name was last given with a credential that is not the node's own, and when; empty if that is not known of anybody. */
export type NameGiven = Pick<NodeRecord, 'requester' | 'givenAt'>

/** A certificate that was issued a moment ago is not in the record yet, but in its request. */
export function nameGiven(
  node: string,
  record: NodeRecord | undefined,
  issued: Iterable<IssuedIdentity>,
  now: Date,
): NameGiven {
  let {object = emptyRecord(node)} = record ?? {}
  for (const one of issued) object = recordIssued(object, one, now) ?? object
  return readRecord(object)
}

/** Everything that the decision on names depends on, except the request. */
export interface ServingSituation extends NameOwners {
  /** Who vouches for the node. */
  voucher: Voucher
  /** Only for a node that has something of the API server's. */
  keeps?: {given: NameGiven | Unknown; registeredAt: Date | undefined} | undefined
}

/** Where it is read from: informers in an approver, lists in `certificate show`. */
export interface ServingSources {
  apiServer: () => Promise<ApiServerFacts | Unknown>
  findNode: (node: string) => Promise<Node | undefined>
  machinesOf: (node: string) => Promise<readonly Machine[]>
  given: (node: string) => Promise<NameGiven | Unknown>
  book: NameOwners['book']
}

export async function servingSituation(
  node: string,
  {apiServer: readApiServer, findNode, machinesOf: findMachines, given, book}: ServingSources,
): Promise<ServingSituation | Unknown> {
  const apiServer = await readApiServer()
  if (isUnknown(apiServer)) return apiServer
  const found = await findNode(node)
  const machines = await findMachines(node)
  const asApiServer = ownedAsApiServer(found, apiServer)
  const created = found?.metadata.creationTimestamp
  const registeredAt = created ? parseTimestamp(created) : undefined
  const own = new Set(machines.map((machine) => machineOwner(machine).name))
  return {
    voucher: voucherFor(node, {node: found, machines}),
    apiServer,
    asApiServer,
    ...(asApiServer?.size && {keeps: {given: await given(node), registeredAt}}),
    book,
    isOwn: ({kind, name}: Owner) => (kind === 'Node' ? name === node : own.has(name)),
  }
}
