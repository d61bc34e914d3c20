import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {isWithin, windowOf} from '../../controllers/approval/machine-window.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {listServed} from './find.ts'
import {machineIn} from './wanted.ts'

/** Where a machine is: it has joined, may join now, later, no longer, or cannot for lack of a name. */
type MachineState = 'joined' | 'expected' | 'early' | 'overdue' | 'incomplete'

/** A machine, as `machine list` shows it. */
export interface MachineReport {
  namespace: string
  name: string
  state: MachineState
  /** The node that it has become; null before. */
  node: string | null
  dns: readonly string[]
  addresses: readonly string[]
  providerID: string | null
  created: string | null
  /** Null if its times cannot be read. */
  expectedFrom: string | null
  expectedUntil: string | null
}

export interface MachineList {
  machines: MachineReport[]
}

function stateOf(machine: Machine, now: Date): MachineState {
  const window = windowOf(machine)
  if (machine.status?.nodeRef) return 'joined'
  if (window === undefined || machineIn(machine).dns.length === 0) return 'incomplete'
  if (isWithin(window, now)) return 'expected'
  return now < window.from ? 'early' : 'overdue'
}

export function reportOn(machine: Machine, now: Date): MachineReport {
  const {namespace, name, dns, addresses, providerID} = machineIn(machine)
  const {from, until} = windowOf(machine) ?? {}
  return {
    namespace,
    name,
    state: stateOf(machine, now),
    node: machine.status?.nodeRef?.name ?? null,
    dns,
    addresses,
    providerID: providerID ?? null,
    created: machine.metadata.creationTimestamp ?? null,
    expectedFrom: from ? formatTimestamp(from) : null,
    expectedUntil: until ? formatTimestamp(until) : null,
  }
}

/** The Machines of all namespaces, or of one: the approver reads all. */
export async function listMachines(
  client: Pick<ApiClient, 'machines' | 'raw'>,
  namespace: string | undefined,
  clock: Clock,
): Promise<MachineList> {
  const found = await listServed(client, namespace)
  return {machines: found.map((one) => reportOn(one, clock.now()))}
}
