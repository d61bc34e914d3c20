import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {windowOf} from '../../controllers/approval/machine-window.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {planMachines, type Inventory, type Step} from './plan.ts'
import {addressesOf} from './wanted.ts'
import {formatTimestamp} from '../../runtime.ts'

type Client = Pick<ApiClient, 'machines' | 'namespaces' | 'raw'>

/** What became of one machine of an inventory. */
export interface CreatedMachine {
  namespace: string
  name: string
  /** `completed`: an earlier run was interrupted. `skipped`: the server was gone by then. */
  result: 'created' | 'completed' | 'unchanged' | 'failed' | 'skipped'
  /** When its request is no longer expected; null if it was not created. */
  expectedUntil: string | null
  /** Why it failed. */
  error?: string
}

export interface CreatedMachines {
  machines: CreatedMachine[]
  dryRun: boolean
}

const AT_ONCE = 8

async function write({machines}: Client, {machine, present, action}: Step): Promise<Machine> {
  if (action === 'keep' && present !== undefined) return present
  const {namespace, name, providerID} = machine
  const made =
    present ??
    (await machines.create({
      metadata: {namespace, name},
      spec: providerID === undefined ? {} : {providerID},
    }))
  return await machines.updateStatus({
    ...made,
    status: {...made.status, addresses: addressesOf(machine)},
  })
}

const RESULTS = {create: 'created', complete: 'completed', keep: 'unchanged'} as const
/** After these the next machine may still be created. */
const OF_ONE = ['ALREADY_EXISTS', 'CONFLICT', 'INVALID', 'NOT_FOUND', 'FORBIDDEN'] as const

/**
 * Adds machines to the inventory. All of them are checked before the first is written, and each gets a result. Run again, it
 * completes what was interrupted and leaves what exists as it is.
 */
export async function createMachines(
  client: Client,
  inventory: Inventory,
  {dryRun = false}: {dryRun?: boolean} = {},
): Promise<CreatedMachines> {
  const steps = await planMachines(client, inventory)
  let isGone = false
  const perform = async (step: Step): Promise<CreatedMachine> => {
    const {namespace, name} = step.machine
    const about = {namespace, name, expectedUntil: null}
    if (dryRun) return {...about, result: RESULTS[step.action]}
    if (isGone) return {...about, result: 'skipped'}
    try {
      const window = windowOf(await write(client, step))
      const expectedUntil = window ? formatTimestamp(window.until) : null
      return {...about, expectedUntil, result: RESULTS[step.action]}
    } catch (error) {
      isGone ||= !hasCode(error, ...OF_ONE)
      return {...about, result: 'failed', error: messageOf(error)}
    }
  }
  const results = new Array<CreatedMachine>(steps.length)
  const queue = steps.entries()
  const worker = async () => {
    for (const [index, step] of queue) results[index] = await perform(step)
  }
  await Promise.all(Array.from({length: AT_ONCE}, worker))
  return {machines: results, dryRun}
}
