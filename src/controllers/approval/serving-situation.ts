import type {Machine} from '../../api/machine.ts'
import type {Node} from '../../api/node.ts'
import {machineOwner, type Owner} from './address-book.ts'
import type {Surroundings} from './never.ts'
import {voucherFor, type Voucher} from './registered.ts'

/** All that counts for the names in a request, but for the request. */
export interface ServingSituation extends Surroundings {
  /** Who vouches for the node. */
  voucher: Voucher
}

export function servingSituation(
  node: string,
  {
    found,
    machines,
    apiServer,
    book,
  }: Omit<Surroundings, 'isOwn'> & {found: Node | undefined; machines: readonly Machine[]},
): ServingSituation {
  const own = new Set(machines.map((machine) => machineOwner(machine).name))
  return {
    voucher: voucherFor(node, {node: found, machines}),
    apiServer,
    book,
    isOwn: ({kind, name}: Owner) => (kind === 'Node' ? name === node : own.has(name)),
  }
}
