import {lookAt} from '../fs/file-checks.ts'
import {findCertDir} from './cert-dir.ts'
import {readClusterInfo} from './cluster-info-store.ts'
import {CredentialStore} from './credential-store.ts'
import {nodeFile} from './node-files.ts'
import type {NodeUnit} from './node-unit.ts'
import {formatTimestamp} from '../runtime.ts'

/** What `join --output json` prints. */
export interface JoinResult {
  nodeName: string
  /** The link to the certificate and its key; null while there is none. */
  certificate: string | null
  /** kubelet.conf; without a certificate, bootstrap-kubelet.conf first; null if neither was written. */
  kubeconfig: string | null
  /** Until when the certificate is valid. */
  notAfter: string | null
  clusterInfo: KeptClusterInfo | null
  dir: string
  /** The folder of certificates and keys. */
  certDir: string
  /** Only with `--node-run`. */
  nodeRun?: NodeUnit
}

interface KeptClusterInfo {
  /** The file, which can be used as --discovery-file too. */
  file: string
  server: string
  /** Other addresses of the cluster. */
  endpoints: string[]
  /** As `--discovery-token-ca-cert-hash` takes them. */
  caCertHashes: string[]
}

/** What a folder contains of a node. */
export async function describeNode({
  dir,
  certDir,
  nodeName,
}: {
  dir: string
  certDir?: string | undefined
  nodeName: string
}): Promise<JoinResult> {
  const folder = await findCertDir(dir, certDir)
  const store = new CredentialStore(folder)
  const [own, bootstrap] = [nodeFile(dir, 'kubeconfig'), nodeFile(dir, 'bootstrapKubeconfig')]
  const [info, current] = await Promise.all([readClusterInfo(dir), store.read()])
  return {
    nodeName,
    certificate: current ? store.current : null,
    kubeconfig: await firstThere(...(current ? [own, bootstrap] : [bootstrap, own])),
    notAfter: current ? formatTimestamp(current.certificate.notAfter) : null,
    clusterInfo: info
      ? {
          file: nodeFile(dir, 'clusterInfo'),
          server: info.server,
          endpoints: info.endpoints,
          caCertHashes: info.pins,
        }
      : null,
    dir,
    certDir: folder,
  }
}

async function firstThere(...paths: string[]): Promise<string | null> {
  for (const path of paths) if (await lookAt(path)) return path
  return null
}
