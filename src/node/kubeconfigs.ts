import {buildKubeconfig, type KubeconfigCredentials} from '../client/kubeconfig-build.ts'
import {formatKubeconfig} from '../client/kubeconfig.ts'
import {nodeUser} from '../csr/node-names.ts'
import {endpointsExtension, type TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {nodeFile, type NodeFile} from './node-files.ts'

/** kubeadm's name for the user of a token. */
const BOOTSTRAP_USER = 'tls-bootstrap-token-user'

function contentOf(
  {server, ca, tlsServerName, endpoints}: TrustedClusterInfo,
  userName: string,
  credentials: KubeconfigCredentials,
): string {
  const extensions = endpointsExtension(endpoints)
  return formatKubeconfig(
    buildKubeconfig({server, ca, tlsServerName, extensions, userName, credentials}),
  )
}

/** The kubeconfig of the node. It refers to the current certificate, so that it stays valid after a renewal. */
export function kubeletKubeconfig(
  dir: string,
  info: TrustedClusterInfo,
  node: string,
  current: string,
): NodeFile {
  const credentials = {certificateFile: current, keyFile: current}
  return {
    path: nodeFile(dir, 'kubeconfig'),
    content: contentOf(info, nodeUser(node), credentials),
  }
}

/** What a real kubelet starts with, as `kubeadm join` writes it. It contains a secret. */
export function bootstrapKubeconfig(
  dir: string,
  info: TrustedClusterInfo,
  credentials: KubeconfigCredentials,
): NodeFile {
  return {
    path: nodeFile(dir, 'bootstrapKubeconfig'),
    content: contentOf(info, BOOTSTRAP_USER, credentials),
  }
}
