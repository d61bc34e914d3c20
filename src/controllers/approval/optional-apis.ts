import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions, WatchOptions} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'

/**
 * Whether a failure is for want of a whole API, named by its group and version. A server says "forbidden" also of what it does
 * not have; who may not read what is there must not go on as if there were nothing.
 */
export async function isNotServed(
  {raw}: Pick<ApiClient, 'raw'>,
  groupVersion: string,
  error: unknown,
  options: CallOptions,
): Promise<boolean> {
  if (hasCode(error, 'NOT_FOUND')) return true
  if (!hasCode(error, 'FORBIDDEN')) return false
  try {
    await raw(`/apis/${groupVersion}`, options)
    return false
  } catch (answer) {
    return hasCode(answer, 'NOT_FOUND')
  }
}

export type MachineReader = Pick<ApiClient, 'machines' | 'raw'>
type Machines = Pick<ApiClient['machines'], 'list' | 'watch'>

/** How often a cluster without the Machine API is asked whether it has it by now. */
const LOOK_AGAIN = 300_000

const GROUP_VERSION = 'machine.openshift.io/v1beta1'

/** The Machines, of which there are none if the API does not exist. */
export function machinesWhereServed(client: MachineReader): Machines {
  const {machines} = client
  return {
    async list(options = {}) {
      try {
        return await machines.list(options)
      } catch (error) {
        if (!(await isNotServed(client, GROUP_VERSION, error, {signal: options.signal})))
          throw error
        return {kind: 'MachineList', apiVersion: 'v1', metadata: {resourceVersion: ''}, items: []}
      }
    },
    async *watch(options: WatchOptions = {}) {
      try {
        yield* machines.watch(options)
      } catch (error) {
        if (!(await isNotServed(client, GROUP_VERSION, error, {signal: options.signal})))
          throw error
        await sleep(LOOK_AGAIN, options.signal)
      }
    },
  }
}
