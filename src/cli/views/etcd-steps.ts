import {shellWord} from '../../client/printable.ts'
import {commandsToUseEtcd, etcdFlagsFor} from '../../control-plane/init/etcd-command.ts'
import type {Plane} from '../../control-plane/config/plane.ts'

/** How an etcd uses its new certificates, as commands to copy. */
export async function etcdSteps(plane: Plane): Promise<string> {
  const flags = etcdFlagsFor(plane).map((words) =>
    words
      .filter((word) => word !== undefined)
      .map(shellWord)
      .join(' '),
  )
  const commands = await commandsToUseEtcd(plane)
  const start = `Start etcd with these certificates:\n\netcd ${flags.join(' \\\n  ')}\n`
  const use = `\nThen make it the store of the control plane:\n\n${commands.join('\n')}\n`
  return commands.length === 0 ? start : `${start}${use}`
}
