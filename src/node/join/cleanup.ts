import {rm} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import {timeLeft} from '../../client/patience.ts'
import {discardPendingKey} from '../../enrollment/pending-key.ts'
import {messageOf} from '../../errors.ts'
import {lookAt, requireReplaceable} from '../../fs/file-checks.ts'
import {syncFolder} from '../../fs/folders.ts'
import {sleep} from '../../runtime.ts'
import {whoAmI} from '../acceptance.ts'
import {pendingKeyIn} from '../cert-dir.ts'
import {withCertificate} from '../cluster-access.ts'
import {readClusterInfo} from '../cluster-info-store.ts'
import {nodeFile, nodeRecord} from '../node-files.ts'
import {
  findValid,
  type JoinContext,
  type JoinPhase,
  type JoinSettings,
  requireValid,
} from './phase.ts'

/** The file that `--for-kubelet` wrote. One that the user brought, such as a machine image's, belongs to the user. */
async function findBootstrapFile({
  dir,
  bootstrapKubeconfig,
}: JoinSettings): Promise<string | undefined> {
  const path = nodeFile(dir, 'bootstrapKubeconfig')
  const isBrought = bootstrapKubeconfig !== undefined && resolve(bootstrapKubeconfig) === path
  return !isBrought && (await nodeRecord(dir).isMade(path)) ? path : undefined
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
    const {patience, settings} = context
    const longest = timeLeft(patience) ?? settings.timeout ?? settings.certificateTimeout
    const left = await findBootstrapFile(context.settings)
    if (left !== undefined && longest !== undefined) {
      await awaitKubelet(context, left, longest)
      // Deleted by somebody else, perhaps with its folder, which must not come back.
      if (!(await lookAt(left))) return context.tell(NOTHING_LEFT)
    }
    await context.lock.hold()
    // Until the node has its certificate, they are the only way to authenticate.
    await requireValid(context)
    const pending = pendingKeyIn(context.certDir)
    if (await nodeRecord(context.settings.dir).isMade(pending)) await discardPendingKey(pending)
    const path = await findBootstrapFile(context.settings)
    if (path === undefined) return context.tell(NOTHING_LEFT)
    await requireReplaceable(path)
    await rm(path)
    await syncFolder(dirname(path))
    context.tell(`${path} was deleted: it is no longer needed`)
  },
}

const PAUSE = 1000

/**
 * Waits until the cluster accepts the certificate that a kubelet has got for itself, at most as long as the user allows. Returns early
 * if `path` is gone: then nothing is left to wait for. What goes wrong on the way is shown once, and tried again.
 */
async function awaitKubelet(
  context: JoinContext,
  path: string,
  milliseconds: number,
): Promise<void> {
  const end = context.clock.now().getTime() + milliseconds
  let told = ''
  while ((await lookAt(path)) && context.clock.now().getTime() < end) {
    try {
      if (await isAccepted(context)) return
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== told) context.note(`waiting: ${problem}`)
      told = problem
    }
    await sleep(PAUSE)
  }
}

async function isAccepted(context: JoinContext): Promise<boolean> {
  const [current, info] = [await findValid(context), await readClusterInfo(context.settings.dir)]
  if (!current || !info) return false
  const user = await withCertificate(info, current, (client) => whoAmI(client))
  return user === current.certificate.subject.commonName
}
