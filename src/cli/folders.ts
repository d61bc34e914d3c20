import {resolve} from 'node:path'
import {defaultDir, defaultNodeDir, KUBEADM_DIR} from '../fs/default-folders.ts'
import {lookAt, requirePlainPath} from '../fs/file-checks.ts'
import {nodeFile} from '../node/node-files.ts'

/** The given folder, or the default folder of a control plane. */
export const dirOf = (named: string | undefined): string =>
  requirePlainPath(named === undefined ? defaultDir() : resolve(named))

/**
 * The folder of the node of this machine: without a name the default one, or kubeadm's if no node is in the default one and a kubelet has
 * joined from there.
 */
export async function joinedDirOf(
  named: string | undefined,
  ofKubeadm = KUBEADM_DIR,
  dir = nodeDirOf(named),
): Promise<string> {
  if (named !== undefined) return nodeDirOf(named)
  if (process.env.TRUSTADM_NODE_DIR) return dir
  for (const name of ['clusterInfo', 'manifest', 'kubeconfig'] as const)
    if (await isThere(nodeFile(dir, name))) return dir
  return (await isThere(nodeFile(ofKubeadm, 'kubeconfig'))) ? ofKubeadm : dir
}

const isThere = async (path: string): Promise<boolean> =>
  (await lookAt(path).catch(() => undefined)) !== undefined

/** The given folder, or the default folder of a node. */
export const nodeDirOf = (named: string | undefined): string =>
  requirePlainPath(named === undefined ? defaultNodeDir() : resolve(named))
