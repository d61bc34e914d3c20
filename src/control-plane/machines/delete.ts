import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {findMachines, noSuchMachine, type MachineKey} from './find.ts'

/** What became of each machine that a command names. */
export interface ChangedMachine extends MachineKey {
  result: 'deleted' | 'renewed' | 'failed'
  /** Why it failed. */
  error?: string
}

interface DeleteMachinesOptions {
  namespace: string
  force: boolean
  dryRun?: boolean
  /** Completes a command for this cluster. */
  commandFor: (command: string) => string
}

export interface DeletedMachines {
  machines: ChangedMachine[]
  dryRun: boolean
}

/** A machine controller destroys the real machine when such a Machine is deleted. */
const isManaged = ({metadata, spec}: Machine): boolean =>
  (metadata.finalizers ?? []).length > 0 || spec?.providerSpec !== undefined

/** Takes machines out of the inventory: those that have joined stay members. Each gets a result. */
export async function deleteMachines(
  client: Pick<ApiClient, 'machines' | 'raw'>,
  names: readonly string[],
  {namespace, force, dryRun = false, commandFor}: DeleteMachinesOptions,
): Promise<DeletedMachines> {
  const machines: ChangedMachine[] = []
  for (const {found, ...key} of await findMachines(client, names, namespace)) {
    if (found === undefined) {
      machines.push({...key, result: 'failed', error: noSuchMachine(commandFor)})
    } else if (isManaged(found) && !force) {
      const error = 'a machine controller manages it, which may destroy the machine: use --force'
      machines.push({...key, result: 'failed', error})
    } else machines.push(await remove(key, found))
  }
  return {machines, dryRun}

  async function remove(key: MachineKey, {metadata: {uid}}: Machine): Promise<ChangedMachine> {
    try {
      await client.machines.delete(key, {uid, dryRun})
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT')) throw error
      return {...key, result: 'failed', error: messageOf(error)}
    }
    return {...key, result: 'deleted'}
  }
}
