import {TrustError} from '../../errors.ts'

/** Where an etcd cluster is, how to reach it, and which of its keys are ours. */
export interface EtcdSettings {
  /** URLs of its members: https://10.0.0.1:2379 */
  servers: string[]
  /** PEM files; the servers' CAs, and the certificate and key that this program shows them. */
  caFile?: string | undefined
  certFile?: string | undefined
  keyFile?: string | undefined
  /** Every key starts with it, so that several clusters and programs can share one etcd. */
  prefix: string
}

/** Not that of kube-apiserver, whose objects have another form. */
export const DEFAULT_ETCD_PREFIX = '/trustadm'

const MOST_PREFIX = 256
const PREFIX = /^\/[\w.~-]+(?:\/[\w.~-]+)*$/

/** An address of a member, in the form in which it is compared and shown. */
export function parseEtcdServer(text: string): string {
  // Not repeated: it may contain a password.
  if (text.includes('@'))
    throw new TrustError('CONFIG_INVALID', 'the address of an etcd server contains a user', {
      hints: ['authenticate with a certificate: --etcd-certfile and --etcd-keyfile'],
    })
  const {protocol, origin, href} = URL.canParse(text) ? new URL(text) : new URL('none:')
  // Nothing but scheme, host and port.
  if (['http:', 'https:'].includes(protocol) && href === `${origin}/`) return origin
  throw new TrustError('CONFIG_INVALID', `"${text}" is not the address of an etcd server`, {
    hints: ['write it as https://HOST:2379, and several with commas between them'],
  })
}

/** As kube-apiserver, a missing first slash is added and one at the end is left out. */
export function parseEtcdPrefix(text: string): string {
  const prefix = `/${text.replace(/^\/+|\/+$/g, '')}`
  if (prefix.length <= MOST_PREFIX && PREFIX.test(prefix)) return prefix
  throw new TrustError('CONFIG_INVALID', `"${text}" cannot be the prefix of keys in etcd`, {
    hints: ['use letters, digits, "-", "_", "." and "/", for example /trustadm'],
  })
}
