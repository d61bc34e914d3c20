import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions, WatchOptions} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'

/**
 * Whether a call failed because the server does not have the API group and version at all. A server may also say "forbidden"
 * for an API that it does not have. A caller without permission must not continue as if the API were empty.
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

/** How often to check whether a cluster has got the Machine API. */
const LOOK_AGAIN = 300_000

const GROUP_VERSION = 'machine.openshift.io/v1beta1'

/** The Machines, of which there are none if the API does not exist; `whenMissing` is called each time that is found. */
export function machinesWhereServed(
  client: MachineReader,
  whenMissing: () => void = () => undefined,
): Machines {
  const {machines} = client
  const requireMissing = async (error: unknown, {signal}: CallOptions): Promise<void> => {
    if (!(await isNotServed(client, GROUP_VERSION, error, {signal}))) throw error
    whenMissing()
  }
  return {
    async list(options = {}) {
      try {
        return await machines.list(options)
      } catch (error) {
        await requireMissing(error, options)
        return {kind: 'MachineList', apiVersion: 'v1', metadata: {resourceVersion: ''}, items: []}
      }
    },
    async *watch(options: WatchOptions = {}) {
      try {
        yield* machines.watch(options)
      } catch (error) {
        await requireMissing(error, options)
        await sleep(LOOK_AGAIN, options.signal)
      }
    },
  }
}
