import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {listServed} from './served.ts'

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
