import {rm} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import {discardPendingKey} from '../../enrollment/pending-key.ts'
import {lookAt, requireReplaceable} from '../../fs/file-checks.ts'
import {syncFolder} from '../../fs/folders.ts'
import {pendingKeyIn} from '../cert-dir.ts'
import {nodeFile} from '../node-files.ts'
import {awaitKubelet} from './await-kubelet.ts'
import {requireValid} from './prerequisites.ts'
import type {JoinPhase, JoinSettings} from './phase.ts'

/** The file that `--for-kubelet` wrote. One that the user brought, such as a machine image's, belongs to the user. */
async function findBootstrapFile({
  dir,
  bootstrapKubeconfig,
}: JoinSettings): Promise<string | undefined> {
  const path = nodeFile(dir, 'bootstrapKubeconfig')
  const isBrought = bootstrapKubeconfig !== undefined && resolve(bootstrapKubeconfig) === path
  return !isBrought && (await lookAt(path)) ? path : undefined
}

const NOTHING_LEFT = 'there are no bootstrap credentials to delete'

export const cleanup: JoinPhase = {
  name: 'cleanup',
  summary: 'delete the bootstrap credentials',

  async plan({settings}) {
    const path = await findBootstrapFile(settings)
    return path === undefined ? [] : [`delete ${path}`]
  },

  async run(context) {
    const {certificateTimeout} = context.settings
    const left = await findBootstrapFile(context.settings)
    if (left !== undefined && certificateTimeout !== undefined) {
      await awaitKubelet(context, left, certificateTimeout)
      // Deleted by somebody else, perhaps with its folder, which must not come back.
      if (!(await lookAt(left))) return context.tell(NOTHING_LEFT)
    }
    await context.lock.hold()
    // Until the node has its certificate, they are the only way to authenticate.
    await requireValid(context)
    await discardPendingKey(pendingKeyIn(context.certDir))
    const path = await findBootstrapFile(context.settings)
    if (path === undefined) return context.tell(NOTHING_LEFT)
    await requireReplaceable(path)
    await rm(path)
    await syncFolder(dirname(path))
    context.tell(`${path} was deleted: it is no longer needed`)
  },
}
