import {kubeletKubeconfig} from '../kubeconfigs.ts'
import {ensureFile, isCurrent} from '../node-files.ts'
import {requireClusterInfo, requireValid, storeOf} from './prerequisites.ts'
import type {JoinContext, JoinPhase} from './phase.ts'

async function fileOf(context: JoinContext) {
  const {dir, nodeName} = context.settings
  const info = await requireClusterInfo(context)
  return kubeletKubeconfig(dir, info, nodeName, storeOf(context).current)
}

export const kubeconfig: JoinPhase = {
  name: 'kubeconfig',
  summary: 'write kubelet.conf, which uses the certificate',

  async plan(context) {
    const file = await fileOf(context)
    return (await isCurrent(file)) ? [] : [`write ${file.path}`]
  },

  async run(context) {
    await context.lock.hold()
    await requireValid(context)
    const file = await fileOf(context)
    const isWritten = await ensureFile(file)
    context.tell(`${file.path} ${isWritten ? 'was written' : 'is kept'}`)
  },
}
