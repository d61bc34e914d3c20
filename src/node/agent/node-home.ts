import {shellWord} from '../../client/printable.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import {defaultNodeDir} from '../../fs/default-folders.ts'
import {type Clock, systemClock} from '../../runtime.ts'
import {findCertDir, requireKubeletsCertDir} from '../cert-dir.ts'
import {findHeldPair, takeOver, type HeldPair} from '../certificate-manager/held-pair.ts'
import {clusterInfoFiles, readClusterInfo} from '../cluster-info-store.ts'
import {CredentialStore} from '../credential-store.ts'
import {kubeletKubeconfig} from '../kubeconfigs.ts'
import {DEFAULT_WINDOW, type RotationWindow} from '../certificate-manager/rotation-deadline.ts'
import {readKubeletConf} from '../kubelet-conf.ts'
import {isKubeletsFolder, nodeRecord, type NodeFile} from '../node-files.ts'

/** A node as its folder describes it. */
export interface NodeHome {
  dir: string
  certDir: string
  nodeName: string
  info: TrustedClusterInfo
  /** Whether the folder is that of a kubelet, which joined with kubeadm or by itself: then its files stay as they are but for what changes. */
  isKubelets: boolean
  /** The fingerprint of a certificate that no certificate manager has got: it is renewed at once. */
  given?: string | undefined
}

const SERVING = 'kubelet-server'

/** After the kubelet, which renews its own certificates without a restart: this is for one that does not, and for new CAs. */
const AFTER_KUBELET: RotationWindow = {from: 0.92, to: 0.96}

export const defaultWindow = ({isKubelets}: NodeHome): RotationWindow =>
  isKubelets ? AFTER_KUBELET : DEFAULT_WINDOW

type Folders = Pick<NodeHome, 'dir' | 'certDir'> & Partial<Pick<NodeHome, 'isKubelets'>>

/** What is written into the folder of a kubelet is not trustadm's to remove. */
const recordOf = ({dir, isKubelets}: Folders) => (isKubelets ? undefined : nodeRecord(dir))

export const clientStore = (folders: Folders): CredentialStore =>
  new CredentialStore(folders.certDir, {record: recordOf(folders)})

export const servingStore = (folders: Folders): CredentialStore =>
  new CredentialStore(folders.certDir, {pair: SERVING, record: recordOf(folders)})

interface OpenNodeHome extends NodeHome {
  client: HeldPair
}

/** Reads which node a folder belongs to. The certificate says so, even after it has expired. */
export async function openNodeHome(
  dir: string,
  namedCertDir?: string,
  clock: Clock = systemClock,
): Promise<OpenNodeHome> {
  const certDir = await findCertDir(dir, namedCertDir)
  const isKubelets = await isKubeletsFolder(dir)
  if (isKubelets) await requireKubeletsCertDir(dir, certDir)
  const folders = {dir, certDir, isKubelets}
  const [stored, client] = await Promise.all([
    readClusterInfo(dir),
    findHeldPair({dir, store: clientStore(folders)}, clock.now()),
  ])
  const info = stored ?? (await (await readKubeletConf(dir))?.cluster())
  if (!info || !client) throw notJoined(folders, info !== undefined)
  const given = client.isGiven ? client.certificate.fingerprint : undefined
  return {...folders, nodeName: client.nodeName, info, given, client}
}

/** Stores the pair that kubelet.conf holds, and restores a link that is missing, before anything is written. The caller holds the lock. */
export async function takeOverPair(
  dir: string,
  namedCertDir: string | undefined,
  {clock, log}: {clock: Clock; log: (line: string) => void},
): Promise<void> {
  const certDir = await findCertDir(dir, namedCertDir)
  const isKubelets = await isKubeletsFolder(dir)
  const store = clientStore({dir, certDir, isKubelets})
  await takeOver({dir, store}, clock, log, {keepsConf: isKubelets})
}

/** The files that let the node, and a kubelet, trust the cluster. The first is enough to write the others again. */
export const trustFiles = (home: NodeHome): NodeFile[] => [
  ...clusterInfoFiles(home.dir, home.info),
  kubeletKubeconfig(home.dir, home.info, home.nodeName, clientStore(home).current),
]

/** Names what is missing: that is often one file of a folder that was copied. */
function notJoined({dir, certDir}: Folders, isClusterKnown: boolean): TrustError {
  const hints =
    dir === defaultNodeDir()
      ? ['join first with "trustadm join"', 'or name the folder of the node with --dir']
      : [
          'check the name: the folder of a node contains cluster-info.yaml or kubelet.conf',
          `or join first with "trustadm join … --dir ${shellWord(dir)}"`,
        ]
  const missing = isClusterKnown
    ? `there is neither kubelet-client-current.pem nor another certificate of a node in ${certDir}, and none in kubelet.conf`
    : 'it has neither cluster-info.yaml nor kubelet.conf'
  return new TrustError(
    'NOT_JOINED',
    `${dir} is not the folder of a node that has joined: ${missing}`,
    {
      hints: isClusterKnown
        ? ['if its certificates are in another folder, name that with --cert-dir', ...hints]
        : hints,
    },
  )
}
