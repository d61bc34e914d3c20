import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import {formatToken} from '../../bootstrap/token.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {TrustError} from '../../errors.ts'
import {parseBundle} from '../../pki/bundle.ts'
import {pinOf} from '../../pki/pins.ts'

const HTTPS_PORT = '443'
/** The program that a machine joins with. */
const JOINER = 'trustadm'

/** What a machine has to be told of a cluster, beside a token. */
export interface JoinTarget {
  /** An https:// URL. */
  server: string
  /** As `--discovery-token-ca-cert-hash` takes them. */
  caCertHashes: readonly string[]
}

/** The line that brings a machine into the cluster. With the program's name changed, it is kubeadm's. */
export function joinCommand(
  {server, caCertHashes}: JoinTarget,
  {token}: Pick<BootstrapTokenInfo, 'token'>,
): string {
  const pins = caCertHashes.map((hash) => `--discovery-token-ca-cert-hash ${hash}`)
  return [JOINER, 'join', hostAndPort(server), '--token', formatToken(token), ...pins].join(' ')
}

/** Only a token of both usages leads a machine all the way: it finds the cluster by it and is let in by it. */
export const isForJoining = ({usages}: Pick<BootstrapTokenInfo, 'usages'>): boolean =>
  usages.signing && usages.authentication

export function requireForJoining(info: Pick<BootstrapTokenInfo, 'usages'>): void {
  if (isForJoining(info)) return
  throw new TrustError('USAGE', 'a join line needs a token for both signing and authentication', {
    hints: ['leave --usages out, or leave --print-join-command out'],
  })
}

/** What a kubeconfig says of its cluster. Without a CA in it there is nothing to pin. */
export function joinTarget({server, ca}: Pick<ServerAccess, 'server' | 'ca'>): JoinTarget {
  if (ca === undefined) {
    throw new TrustError('KUBECONFIG_INVALID', 'the kubeconfig holds no CA to pin in a join line', {
      hints: ['use a kubeconfig with certificate-authority-data, as admin.conf has it'],
    })
  }
  return {server, caCertHashes: parseBundle(ca).map(pinOf)}
}

/** A URL leaves out the port that it takes for granted; a join line takes another one for granted. */
function hostAndPort(server: string): string {
  const {host, port} = new URL(server)
  return port === '' ? `${host}:${HTTPS_PORT}` : host
}
