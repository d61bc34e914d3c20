import {lookAt} from '../../fs/file-checks.ts'
import {messageOf} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {whoAmI} from '../acceptance.ts'
import {withCertificate} from '../cluster-access.ts'
import {readClusterInfo} from '../cluster-info-store.ts'
import type {JoinContext} from './phase.ts'
import {findValid} from './prerequisites.ts'

const PAUSE = 1000

/**
 * Waits until the cluster accepts the certificate that a kubelet has got for itself, at most as long as the user allows. Returns early
 * if `path` is gone: then nothing is left to wait for. What goes wrong on the way is shown once, and tried again.
 */
export async function awaitKubelet(
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
  const user = await withCertificate(info, current, whoAmI)
  return user === current.certificate.subject.commonName
}
