import {ensureFolder} from '../../fs/folders.ts'
import {withCredential} from '../cluster-access.ts'
import {bootstrapKubeconfig, kubeletKubeconfig} from '../kubeconfigs.ts'
import {readKubeletConf} from '../kubelet-conf.ts'
import {changeTrust, useLink} from '../kubelet-folder.ts'
import {ensureFile, isCurrent, nodeFile, nodeRecord} from '../node-files.ts'
import {requireNameFree} from '../node-object.ts'
import {
  type JoinContext,
  type JoinPhase,
  requireClusterInfo,
  requireCredential,
  requireValid,
  storeOf,
} from './phase.ts'

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
    const {settings, certDir, tell, isKubelets, lock} = context
    await lock.hold()
    await requireValid(context)
    const file = await fileOf(context)
    if (isKubelets) {
      const info = await requireClusterInfo(context)
      const before = await (await readKubeletConf(settings.dir))?.cluster()
      const changed = [
        ...(before ? await changeTrust({dir: settings.dir, info: before}, info, info.server) : []),
        ...(await useLink({dir: settings.dir, certDir})),
      ]
      return tell(`${file.path} ${changed.includes(file.path) ? 'was changed' : 'is kept'}`)
    }
    const isWritten = await ensureFile(file, nodeRecord(settings.dir))
    tell(`${file.path} ${isWritten ? 'was written' : 'is kept'}`)
  },
}

async function bootstrapFileOf(context: JoinContext) {
  const info = await requireClusterInfo(context)
  const credentials = await (await requireCredential(context)).inKubeconfig()
  return bootstrapKubeconfig(context.settings.dir, info, credentials)
}

/** Only with `--for-kubelet`: what a kubelet needs to get its own certificate. */
export const forKubelet: JoinPhase = {
  name: 'for-kubelet',
  summary: 'write bootstrap-kubelet.conf for a kubelet',

  async plan(context) {
    const file = await bootstrapFileOf(context)
    return (await isCurrent(file)) ? [] : [`write the bootstrap credential to ${file.path}`]
  },

  async run(context) {
    const {nodeName, dir} = context.settings
    const info = await requireClusterInfo(context)
    const credential = await requireCredential(context)
    await withCredential(
      info,
      credential,
      (client, _server, signal) => requireNameFree(client, nodeName, signal),
      {shared: context.connections, patience: context.patience},
    )
    await context.lock.hold()
    await ensureFolder(nodeFile(dir, 'pki'))
    const file = await bootstrapFileOf(context)
    await nodeRecord(dir).noteName(nodeName)
    const isWritten = await ensureFile(file, nodeRecord(dir))
    context.tell(`${file.path} ${isWritten ? 'was written' : 'is kept'}`)
  },
}
