import {createMachines, type CreatedMachines} from '../control-plane/machines/create.ts'
import type {Inventory} from '../control-plane/machines/plan.ts'
import type {ClusterFlagValues} from './cluster.ts'
import {inventoryIn, noMachineNamed} from './machine-names.ts'
import {withCluster} from './with-cluster.ts'

export interface CreateMachineFlags extends ClusterFlagValues {
  name: string | undefined
  filename: string | undefined
  dns: string[] | undefined
  address: string[] | undefined
  'provider-id': string | undefined
  namespace: string
  'dry-run': boolean
}

async function inventoryOf(flags: CreateMachineFlags): Promise<Inventory> {
  const {name, filename, dns, address, namespace} = flags
  if (filename !== undefined) return await inventoryIn(filename, namespace)
  if (name === undefined) throw noMachineNamed()
  const machine = {
    namespace,
    name,
    dns: dns ?? [name],
    addresses: address ?? [],
    providerID: flags['provider-id'],
  }
  return {rows: [{machine, where: ''}], problems: []}
}

/** Creates the machine that the flags name, or those of an inventory. */
export async function createMachinesOf(flags: CreateMachineFlags): Promise<CreatedMachines> {
  const inventory = await inventoryOf(flags)
  return await withCluster(flags, ({client}) =>
    createMachines(client, inventory, {dryRun: flags['dry-run']}),
  )
}
