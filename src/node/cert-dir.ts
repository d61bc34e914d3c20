import {basename, dirname, join, resolve} from 'node:path'
import {parseKubeconfig} from '../client/kubeconfig.ts'
import {readFileIfThere} from '../fs/files.ts'
import {nodeFile} from './node-files.ts'

/** The key of a first request, while it is in progress; the kubelet uses the same name. */
export const pendingKeyIn = (certDir: string): string => join(certDir, 'kubelet-client.key.tmp')

/**
 * The folder of the node's certificates and keys: the one that the user named, else the one that kubelet.conf refers to, so that
 * `--cert-dir` is needed only once; else `pki` in the folder of the node.
 */
export async function findCertDir(dir: string, named?: string): Promise<string> {
  return named === undefined ? ((await usedCertDir(dir)) ?? nodeFile(dir, 'pki')) : resolve(named)
}

async function usedCertDir(dir: string): Promise<string | undefined> {
  const path = nodeFile(dir, 'kubeconfig')
  try {
    const text = (await readFileIfThere(path))?.toString()
    const file = text && parseKubeconfig(text, path).users[0]?.user['client-certificate']
    return file && basename(file) === 'kubelet-client-current.pem'
      ? dirname(resolve(dir, file))
      : undefined
  } catch {
    // Whoever replaces or uses the file reports what is wrong with it.
    return undefined
  }
}
