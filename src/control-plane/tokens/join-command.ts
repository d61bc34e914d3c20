import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import {formatToken} from '../../bootstrap/token.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {TrustError} from '../../errors.ts'
import {parseBundle} from '../../pki/bundle.ts'
import {pinsOf} from '../../discovery/cluster-info.ts'

const HTTPS_PORT = '443'
/** The program that a machine joins with. */
const JOINER = 'trustadm'

/** What a machine must know about a cluster, besides a token. */
export interface JoinTarget {
  /** An https:// URL. */
  server: string
  /** As `--discovery-token-ca-cert-hash` takes them. */
  caCertHashes: readonly string[]
}

/** The command with which a machine joins the cluster. It is kubeadm's, except for the program's name. */
export function joinCommand(
  {server, caCertHashes}: JoinTarget,
  {token}: Pick<BootstrapTokenInfo, 'token'>,
): string {
  const pins = caCertHashes.map((hash) => `--discovery-token-ca-cert-hash ${hash}`)
  return [JOINER, 'join', hostAndPort(server), '--token', formatToken(token), ...pins].join(' ')
}

/** To join, a token needs both usages: one identifies the cluster, the other authenticates the machine. */
export const isForJoining = ({usages}: Pick<BootstrapTokenInfo, 'usages'>): boolean =>
  usages.signing && usages.authentication

export function requireForJoining(info: Pick<BootstrapTokenInfo, 'usages'>): void {
  if (isForJoining(info)) return
  throw new TrustError(
    'USAGE',
    'a join command needs a token for both signing and authentication',
    {
      hints: ['leave out --usages or --print-join-command'],
    },
  )
}

/** The cluster of a kubeconfig. Without a CA in it, there is nothing to pin. */
export function joinTarget({server, ca}: Pick<ServerAccess, 'server' | 'ca'>): JoinTarget {
  if (ca === undefined) {
    throw new TrustError(
      'KUBECONFIG_INVALID',
      'the kubeconfig contains no CA to pin in a join command',
      {
        hints: ['use a kubeconfig with certificate-authority-data, as admin.conf has it'],
      },
    )
  }
  return {server, caCertHashes: pinsOf(parseBundle(ca))}
}

/** A URL omits its default port 443, but a join command has another default. */
function hostAndPort(server: string): string {
  const {host, port} = new URL(server)
  return port === '' ? `${host}:${HTTPS_PORT}` : host
}
