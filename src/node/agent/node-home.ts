import {shellWord} from '../../client/printable.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import {defaultNodeDir} from '../../fs/default-folders.ts'
import {findCertDir} from '../cert-dir.ts'
import {clusterInfoFiles, readClusterInfo} from '../cluster-info-store.ts'
import {CredentialStore} from '../credential-store.ts'
import {kubeletKubeconfig} from '../kubeconfigs.ts'
import {nodeRecord, type NodeFile} from '../node-files.ts'

/** A node as its folder describes it. */
export interface NodeHome {
  dir: string
  certDir: string
  nodeName: string
  info: TrustedClusterInfo
}

const SERVING = 'kubelet-server'

type Folders = Pick<NodeHome, 'dir' | 'certDir'>

export const clientStore = ({dir, certDir}: Folders): CredentialStore =>
  new CredentialStore(certDir, {record: nodeRecord(dir)})

export const servingStore = ({dir, certDir}: Folders): CredentialStore =>
  new CredentialStore(certDir, {pair: SERVING, record: nodeRecord(dir)})

/** Reads which node a folder belongs to. The certificate says so, even after it has expired. */
export async function openNodeHome(dir: string, namedCertDir?: string): Promise<NodeHome> {
  const certDir = await findCertDir(dir, namedCertDir)
  const [info, current] = await Promise.all([
    readClusterInfo(dir),
    clientStore({dir, certDir}).read(),
  ])
  if (!info || !current) throw notJoined(dir)
  const nodeName = nodeOfUser(current.certificate.subject.commonName)
  if (nodeName !== undefined) return {dir, certDir, nodeName, info}
  throw new TrustError(
    'CERTIFICATE_INVALID',
    `${current.file} does not contain the certificate of a node`,
    {hints: ['find out where it came from, then move it away and join again']},
  )
}

/** The files that let the node, and a kubelet, trust the cluster. The first is enough to write the others again. */
export const trustFiles = ({dir, certDir, nodeName, info}: NodeHome): NodeFile[] => [
  ...clusterInfoFiles(dir, info),
  kubeletKubeconfig(dir, info, nodeName, clientStore({dir, certDir}).current),
]

function notJoined(dir: string): TrustError {
  const hints =
    dir === defaultNodeDir()
      ? ['join first with "trustadm join"', 'or name the folder of the node with --dir']
      : [
          'check the name: the folder of a node contains cluster-info.yaml',
          `or join first with "trustadm join … --dir ${shellWord(dir)}"`,
        ]
  return new TrustError('NOT_JOINED', `${dir} is not the folder of a node that has joined`, {
    hints,
  })
}
