import type {Machine} from '../../api/machine.ts'
import type {Node, NodeAddress} from '../../api/node.ts'
import {canonicalIp} from '../../pki/ip-address.ts'

/** DNS names are compared without case, and a closing dot says nothing. */
export const canonicalDns = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** The names and addresses that a machine may have a certificate for, each in one form. */
export type Registered = ReadonlySet<string>

const registeredOf = (addresses: readonly NodeAddress[] = []): Registered =>
  new Set(addresses.map(({address}) => canonicalIp(address) ?? canonicalDns(address)))

const NAME_TYPES = new Set(['InternalDNS', 'Hostname'])

/** The names by which a Machine that no node refers to may become one: its own, and those it has in its network. */
export function nodeNamesOf({metadata, status}: Machine): string[] {
  const addresses = status?.addresses ?? []
  const names = addresses.filter(({type}) => NAME_TYPES.has(type)).map(({address}) => address)
  return [metadata.name ?? '', ...names].map(canonicalDns).filter((name) => name !== '')
}

/** Those Machines that are the node's: the ones that refer to it, else those without a node whose name is the node's. */
export function machinesOf(node: string, machines: Iterable<Machine>): Machine[] {
  const all = [...machines]
  const refers = (machine: Machine) => machine.status?.nodeRef?.name
  const referring = all.filter((machine) => refers(machine) === node)
  if (referring.length > 0) return referring
  return all.filter(
    (machine) =>
      (refers(machine) ?? '') === '' && nodeNamesOf(machine).includes(canonicalDns(node)),
  )
}

/** Who vouches for a node's names: its Machine where it has one, else what the node itself says. */
export type Voucher =
  {kind: 'Machine' | 'Node'; name: string; registered: Registered} | {kind: 'none'; why: string}

export function voucherFor(
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
