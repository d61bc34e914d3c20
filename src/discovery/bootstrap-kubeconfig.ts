import {formatClusterInfo} from '../bootstrap/cluster-info.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {readKubeconfig} from '../client/kubeconfig-files.ts'
import {kubeconfigInvalid} from '../client/kubeconfig.ts'
import {withoutTrailingSlashes, type ServerAccess} from '../client/server-access.ts'
import {elsewhere, TrustError} from '../errors.ts'

/**
 * The kubeconfig that a machine joins with: which cluster to trust, and a client certificate or a token. Anything that would weaken
 * this trust, or that `kubelet.conf` could not take over, is refused.
 */
export async function readBootstrapKubeconfig(path: string): Promise<ServerAccess> {
  const access = await readKubeconfig(path)
    .then((config) => resolveAccess(config))
    .catch((error: unknown) => {
      throw inFile(path, error)
    })
  requireFaithful(access, path)
  const {clientCertificate, bearerToken} = access
  if (!clientCertificate && !bearerToken) {
    throw kubeconfigInvalid(
      `${path} contains neither a client certificate nor a token`,
      elsewhere(
        'to create one that does, run "trustadm bootstrap-credential create" on the control plane',
      ),
      'a kubeconfig without credentials is a --discovery-file',
    )
  }
  return access
}

/** Refuses what would weaken the trust in the cluster, or let the machine act as somebody else. */
export function requireFaithful(
  {server, insecure, proxyUrl, impersonate}: ServerAccess,
  path: string,
): void {
  if (insecure) {
    throw kubeconfigInvalid(
      `${path} has insecure-skip-tls-verify, which would trust any server`,
      "put the cluster's CA into it instead",
    )
  }
  if (!server.startsWith('https:')) throw kubeconfigInvalid(`${path} has no https:// address`)
  if (proxyUrl !== undefined) {
    throw kubeconfigInvalid(
      `${path} chooses a proxy for this machine (proxy-url)`,
      'set HTTPS_PROXY on this machine instead',
    )
  }
  if (impersonate) throw kubeconfigInvalid(`${path} impersonates another user (as)`)
}

/** Where the kubeconfig says that the cluster is, and which CAs it trusts, in the form of cluster-info. */
export const clusterInfoIn = ({server, ca, tlsServerName}: ServerAccess): string =>
  formatClusterInfo({
    server: withoutTrailingSlashes(server),
    ...(ca !== undefined && {ca}),
    ...(tlsServerName !== undefined && {tlsServerName}),
  })

/** Errors about kubeconfigs do not say which one, and their hints are about other commands. */
export function inFile(path: string, error: unknown): unknown {
  if (!(error instanceof TrustError)) return error
  const {code, message, facts} = error
  const isMissing = facts.missing !== undefined
  return new TrustError(code, message.includes(path) ? message : `${path}: ${message}`, {
    cause: error,
    facts,
    hints: isMissing
      ? ['check the paths; those in a kubeconfig are relative to its folder']
      : ['use a kubeconfig with a client certificate, a token or a tokenFile'],
  })
}
