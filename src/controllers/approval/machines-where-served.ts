import type {ApiClient} from '../../client/api-client.ts'
import type {WatchOptions} from '../../client/resource-client.ts'
import {sleep} from '../../runtime.ts'
import {isNotServed} from './served.ts'

export type MachineReader = Pick<ApiClient, 'machines' | 'raw'>
type Machines = Pick<ApiClient['machines'], 'list' | 'watch'>

/** How often a cluster without the Machine API is asked whether it has it by now. */
const LOOK_AGAIN = 300_000

const GROUP_VERSION = 'machine.openshift.io/v1beta1'

/** The Machines, of which there are none where the API does not exist. */
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
