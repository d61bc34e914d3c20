import {join, resolve} from 'node:path'
import {withFullPaths} from '../client/kubeconfig-files.ts'
import {parseKubeconfig} from '../client/kubeconfig.ts'
import {TrustError} from '../errors.ts'
import {KUBEADM_DIR} from '../fs/default-folders.ts'
import {lookAt} from '../fs/file-checks.ts'
import {readFileIfThere} from '../fs/files.ts'
import {managedFolderOf, userOf} from './kubelet-conf.ts'
import {nodeFile} from './node-files.ts'

/** The kubelet's own default, which kubeadm does not change. */
const KUBELET_PKI = '/var/lib/kubelet/pki'

/** The key of a first request, while it is in progress; the kubelet uses the same name. */
export const pendingKeyIn = (certDir: string): string => join(certDir, 'kubelet-client.key.tmp')

/**
 * The folder of the node's certificates and keys: the one that the user named, else the one that kubelet.conf refers to, so that
 * `--cert-dir` is needed only once; else `pki` in the folder of the node, or the kubelet's own for the folder of kubeadm.
 */
export async function findCertDir(dir: string, named?: string): Promise<string> {
  if (named !== undefined) return resolve(named)
  const used = await usedCertDir(dir)
  if (used !== undefined) return used
  return dir === KUBEADM_DIR && (await lookAt(KUBELET_PKI)) ? KUBELET_PKI : nodeFile(dir, 'pki')
}

/** Where the pair that kubelet.conf refers to is managed; undefined if it refers to none that is. */
export async function usedCertDir(dir: string): Promise<string | undefined> {
  const path = nodeFile(dir, 'kubeconfig')
  try {
    const text = (await readFileIfThere(path))?.toString()
    if (!text) return undefined
    return managedFolderOf(userOf(withFullPaths(parseKubeconfig(text, path), path)))
  } catch {
    // Whoever replaces or uses the file reports what is wrong with it.
    return undefined
  }
}

/**
 * For the folder of a kubelet: refuses another folder of certificates than the one that it uses. It would never find there what was renewed, but
 * this machine would report that it has followed.
 */
export async function requireKubeletsCertDir(dir: string, certDir: string): Promise<void> {
  const used = await usedCertDir(dir)
  if (used === undefined || used === certDir) return
  throw new TrustError(
    'CONFLICT',
    `the kubelet of this machine keeps its certificates in ${used}, not in ${certDir}`,
    {
      hints: [
        'leave out --cert-dir',
        `if the kubelet was moved to that folder, change ${nodeFile(dir, 'kubeconfig')} as well`,
      ],
    },
  )
}
