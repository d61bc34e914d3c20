import type {Machine} from '../../api/machine.ts'
import type {Node} from '../../api/node.ts'
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

/** Everything that the decision on names depends on, except the request. */
export interface ServingSituation extends NameOwners {
  /** Who vouches for the node. */
  voucher: Voucher
}

/** Where it is read from: informers in an approver, lists in `certificate show`. */
export interface ServingSources {
  apiServer: () => Promise<ApiServerFacts | Unknown>
  findNode: (node: string) => Promise<Node | undefined>
  machinesOf: (node: string) => Promise<readonly Machine[]>
  book: NameOwners['book']
}

export async function servingSituation(
  node: string,
  {apiServer: readApiServer, findNode, machinesOf: findMachines, book}: ServingSources,
): Promise<ServingSituation | Unknown> {
  const apiServer = await readApiServer()
  if (isUnknown(apiServer)) return apiServer
  const found = await findNode(node)
  const machines = await findMachines(node)
  const own = new Set(machines.map((machine) => machineOwner(machine).name))
  return {
    voucher: voucherFor(node, {node: found, machines}),
    apiServer,
    asApiServer: ownedAsApiServer(found, apiServer),
    book,
    isOwn: ({kind, name}: Owner) => (kind === 'Node' ? name === node : own.has(name)),
  }
}
