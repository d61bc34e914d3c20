import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {machinesWhereServed} from '../../controllers/approval/optional-apis.ts'
import {TrustError} from '../../errors.ts'

export interface MachineKey {
  namespace: string
  name: string
}

/** A name on the command line is `name` or `namespace/name`, as `machine list --output name` prints it. */
function parseMachineName(text: string, namespace: string): MachineKey {
  const at = text.indexOf('/')
  return at === -1
    ? {namespace, name: text}
    : {namespace: text.slice(0, at), name: text.slice(at + 1)}
}

/** `commandFor` completes a command for this cluster. */
export const noSuchMachine = (commandFor: (command: string) => string): string =>
  `there is no such Machine; see "${commandFor('machine list')}"`

/** The named Machines, each once. */
export async function findMachines(
  client: Pick<ApiClient, 'machines' | 'raw'>,
  names: readonly string[],
  namespace: string,
): Promise<(MachineKey & {found: Machine | undefined})[]> {
  const all = new Map(
    (await listServed(client)).map((one) => [
      `${one.metadata.namespace ?? ''}/${one.metadata.name ?? ''}`,
      one,
    ]),
  )
  const keys = names.map((name) => parseMachineName(name, namespace))
  const distinct = new Map(keys.map((key) => [`${key.namespace}/${key.name}`, key]))
  return Array.from(distinct, ([id, key]) => ({...key, found: all.get(id)}))
}

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
