import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {EXPECTED_FROM, dnsNamesOf, windowOf} from '../../controllers/approval/machine-window.ts'
import {isHeld} from '../../controllers/approval/node-record.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import type {ChangedMachine} from './delete.ts'
import {findMachines, noSuchMachine, type MachineKey} from './find.ts'

type Client = Pick<ApiClient, 'machines' | 'nodes' | 'configMaps' | 'raw'>

interface RenewedMachine extends ChangedMachine {
  expectedUntil: string | null
  /** Names of the machine that another key has a certificate for: these need `certificate allow-rejoin`. */
  taken: string[]
}

export interface RenewedMachines {
  machines: RenewedMachine[]
}

async function takenNames(client: Client, machine: Machine, now: Date): Promise<string[]> {
  const names = await Promise.all(
    dnsNamesOf(machine).map(async (name) => {
      const record = await findRecord(client, name)
      return record !== undefined && isHeld(record, now) ? [name] : []
    }),
  )
  return names.flat()
}

/** The Node that the machine is, if it still exists. */
async function nodeOf({nodes}: Client, machine: Machine): Promise<string | undefined> {
  const {nodeRef} = machine.status ?? {}
  for (const name of [nodeRef?.name ?? '', ...dnsNamesOf(machine)]) {
    if (isNodeName(name) && (await nodes.find(name)) !== undefined) return name
  }
  return undefined
}

/**
 * Expects machines again, from now on, as if they had just been created: the node that each was before is forgotten. One whose
 * Node still exists is left as it is, because that machine should renew its certificate by itself.
 */
export async function renewMachines(
  client: Client,
  names: readonly string[],
  {namespace, commandFor}: {namespace: string; commandFor: (command: string) => string},
  clock: Clock,
): Promise<RenewedMachines> {
  const machines: RenewedMachine[] = []
  for (const {found, ...key} of await findMachines(client, names, namespace)) {
    machines.push(await renew(key, found))
  }
  return {machines}

  async function renew(key: MachineKey, machine: Machine | undefined): Promise<RenewedMachine> {
    const failed = (error: string): RenewedMachine => ({
      ...key,
      result: 'failed',
      error,
      expectedUntil: null,
      taken: [],
    })
    if (machine === undefined) return failed(noSuchMachine(commandFor))
    const node = await nodeOf(client, machine)
    if (node !== undefined) {
      return failed(`Node "${node}" exists: delete it first, with "kubectl delete node ${node}"`)
    }
    try {
      // The window last: until it moves, the machine is not let in.
      if (machine.status?.nodeRef) {
        const status = {status: {nodeRef: null}}
        await client.machines.patch(key, status, {type: 'merge', subresource: 'status'})
      }
      const annotations = {[EXPECTED_FROM]: formatTimestamp(clock.now())}
      const renewed = await client.machines.patch(key, {metadata: {annotations}}, {type: 'merge'})
      const {until} = windowOf(renewed) ?? {}
      const taken = await takenNames(client, machine, clock.now())
      const expectedUntil = until ? formatTimestamp(until) : null
      return {...key, result: 'renewed', expectedUntil, taken}
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT', 'INVALID', 'FORBIDDEN')) throw error
      return failed(messageOf(error))
    }
  }
}
