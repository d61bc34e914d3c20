import type {JoinCredential} from '../controllers/signing/obtained-by.ts'
import {requireRevocations} from '../control-plane/revocation/list-store.ts'
import {
  withdrawMachines,
  type WithdrawnMachines,
} from '../control-plane/revocation/with-machines.ts'
import type {Clock} from '../runtime.ts'
import type {ClusterFlagValues} from './cluster.ts'
import {findLocalPlane} from './local-plane.ts'
import {createProgress} from './progress.ts'
import {confirm} from './prompt.ts'
import type {Cluster} from './with-cluster.ts'

export interface WithMachinesFlags extends ClusterFlagValues {
  yes: boolean
  'dry-run': boolean
  quiet: boolean
  verbose: boolean
}

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/**
 * For `--with-machines`: withdraws a credential by `withdraw`, and then everything that was obtained by it. Undefined if the person said
 * no; then nothing is changed.
 */
export async function withdrawAll(
  {client}: Cluster,
  credentials: readonly {credential: JoinCredential; reason: string}[],
  flags: WithMachinesFlags,
  {withdraw, clock}: {withdraw: () => Promise<unknown>; clock: Clock},
): Promise<WithdrawnMachines | undefined> {
  await requireRevocations(client)
  const {warn} = createProgress(flags)
  const {log} = await findLocalPlane(flags)
  const all = async (dryRun: boolean, say: (line: string) => void) => {
    const parts: WithdrawnMachines[] = []
    for (const {credential, reason} of credentials) {
      parts.push(
        await withdrawMachines(client, credential, {reason, log, warn: say, dryRun}, clock),
      )
    }
    return {
      certificates: parts.flatMap(({certificates}) => certificates),
      nodes: parts.flatMap(({nodes}) => nodes),
    }
  }
  const planned = await all(true, warn)
  if (flags['dry-run']) return planned
  if (!flags.yes) {
    const {certificates, nodes} = planned
    const what = `${many(certificates.length, 'certificate')} and cordon ${many(nodes.length, 'node')}`
    if (!(await confirm(`Revoke ${what}?`))) return undefined
  }
  await withdraw()
  return await all(false, () => undefined)
}
