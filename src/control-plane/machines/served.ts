import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {machinesWhereServed} from '../../controllers/approval/optional-apis.ts'
import {TrustError} from '../../errors.ts'

/** All Machines, or those of a namespace. Fails where the cluster does not have them, instead of showing none. */
export async function listServed(
  client: Pick<ApiClient, 'machines' | 'raw'>,
  namespace?: string,
): Promise<Machine[]> {
  let isServed = true
  const machines = machinesWhereServed(client, () => (isServed = false))
  const {items} = await machines.list({namespace})
  if (isServed) return items
  throw new TrustError('NOT_FOUND', 'this cluster does not serve Machines', {
    hints: [
      'a server of trustadm serves them; other clusters need the CustomResourceDefinition machines.machine.openshift.io',
    ],
  })
}
