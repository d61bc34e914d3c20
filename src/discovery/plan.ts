import {parseToken, type BootstrapToken} from '../bootstrap/token.ts'
import {elsewhere, TrustError, type Hint} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {parsePin, type Pin} from '../pki/pins.ts'
import {parseEndpoint} from './cluster-info.ts'

/** The options of discovery, as `kubeadm join` and a JoinConfiguration name them. An empty string counts as not given. */
export interface DiscoveryOptions {
  /** A path, an https:// URL, or `-` for standard input. */
  file?: string | undefined
  /** A kubeconfig with credentials: what it trusts is the cluster. */
  kubeconfig?: string | undefined
  /** The CAs for the host of an https:// URL, as PEM, instead of the system's. */
  fileCa?: string | undefined
  token?: string | undefined
  endpoints?: readonly string[] | undefined
  caCertHashes?: readonly string[] | undefined
  /** Without it a token needs a pin, as in kubeadm. */
  unsafeSkipCaVerification?: boolean | undefined
}

export interface TokenPlan {
  method: 'token'
  token: BootstrapToken
  endpoints: string[]
  pins: ReadonlySet<Pin>
}

export type DiscoveryPlan =
  | TokenPlan
  | {method: 'kubeconfig'; path: string}
  | {method: 'file'; path: string}
  | {method: 'https'; url: URL; ca: string | undefined}
  | {method: 'stdin'}

/** Checks that the options go together, before anything is read or requested. */
export function planDiscovery(options: DiscoveryOptions): DiscoveryPlan {
  const kubeconfig = given(options.kubeconfig)
  if (kubeconfig !== undefined) return planKubeconfig(kubeconfig, options)
  const file = given(options.file)
  const token = given(options.token)
  if (file !== undefined && token !== undefined) {
    throw wrong(
      'a discovery file and a discovery token cannot be used together',
      'leave one out; --token counts as --discovery-token',
      'with a discovery file, the token to authenticate with is --tls-bootstrap-token',
    )
  }
  if (file !== undefined) return planFile(file, options)
  if (token !== undefined) return planToken(token, options)
  if ((options.endpoints ?? []).length > 0) {
    throw wrong(
      'there is an address, but no token to identify the cluster with',
      'add --token, --token-file or $TRUSTADM_TOKEN; or use --discovery-file and no address',
      elsewhere(
        'to get the complete command, run "trustadm token create --print-join-command" on the control plane',
      ),
    )
  }
  throw wrong(
    'no cluster was named',
    'use an address with --token, --discovery-file or --bootstrap-kubeconfig',
    elsewhere(
      'to get the complete command, run "trustadm token create --print-join-command" on the control plane',
    ),
  )
}

/** It names one cluster, completely. */
function planKubeconfig(path: string, options: DiscoveryOptions): DiscoveryPlan {
  const {endpoints = [], caCertHashes = [], unsafeSkipCaVerification} = options
  const others = [
    ...(endpoints.length > 0 ? ['an address'] : []),
    ...(given(options.token) === undefined ? [] : ['a discovery token']),
    ...(given(options.file) === undefined ? [] : ['a discovery file']),
    ...(caCertHashes.length > 0 ? ['a CA certificate hash'] : []),
    ...(unsafeSkipCaVerification === true ? ['--discovery-token-unsafe-skip-ca-verification'] : []),
  ]
  const [other] = others
  if (other === undefined) return {method: 'kubeconfig', path}
  throw wrong(
    `a bootstrap kubeconfig and ${other} cannot be used together: the kubeconfig says which cluster to trust`,
    'leave one out',
  )
}

function planToken(text: string, options: DiscoveryOptions): TokenPlan {
  const {endpoints = [], caCertHashes = [], unsafeSkipCaVerification} = options
  if (given(options.fileCa) !== undefined) throw caWithoutUrl()
  const token = parseToken(text)
  if (endpoints.length === 0) {
    throw wrong('a token needs the address of an API server', 'add it, such as 10.0.0.1:6443')
  }
  const servers = [...new Set(endpoints.map(parseEndpoint))]
  const pins = new Set(caCertHashes.map(readPin))
  if (pins.size === 0 && unsafeSkipCaVerification !== true) {
    throw wrong(
      'a token without a CA certificate hash is unsafe: anyone who knows the token could pretend to be the cluster',
      elsewhere(
        'add --discovery-token-ca-cert-hash (caCertHashes in a configuration); to get the complete command, run "trustadm token create --print-join-command" on the control plane',
      ),
      'to join anyway, add --discovery-token-unsafe-skip-ca-verification (unsafeSkipCAVerification: true in a configuration)',
    )
  }
  return {method: 'token', token, endpoints: servers, pins}
}

function planFile(file: string, options: DiscoveryOptions): DiscoveryPlan {
  if ((options.endpoints ?? []).length > 0) {
    throw wrong(
      'an address and a discovery file cannot be used together: the file contains the address',
    )
  }
  if ((options.caCertHashes ?? []).length > 0) {
    throw wrong('a CA certificate hash is for a token, not for a discovery file')
  }
  const ca = given(options.fileCa)
  if (/^https:/i.test(file)) return {method: 'https', url: readUrl(file), ca: ca && readCa(ca)}
  if (ca !== undefined) throw caWithoutUrl()
  if (file === '-') return {method: 'stdin'}
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(file)) {
    throw wrong(
      'a discovery file can only be fetched over https://: anything else could be changed on the way',
      'serve it over https://, or copy it to this machine and use its path',
    )
  }
  return {method: 'file', path: file}
}

/** The URL is not shown: it may hold a password, or be secret as a whole. */
function readUrl(text: string): URL {
  const url = !/\s/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url?.hostname) throw wrong('the URL of the discovery file is malformed')
  if (url.username || url.password) {
    throw wrong('the URL of the discovery file contains a user or a password, which are never sent')
  }
  return url
}

function readCa(pem: string): string {
  try {
    parseBundle(pem)
    return pem
  } catch (cause) {
    throw new TrustError('USAGE', 'the CA for the discovery file contains no PEM certificate', {
      cause,
    })
  }
}

/** Not shown either: it may be a token in the wrong place. */
function readPin(text: string, index: number): Pin {
  try {
    return parsePin(text)
  } catch {
    throw wrong(
      `CA certificate hash ${index + 1} is invalid: it is not "sha256:" and 64 hexadecimal digits`,
      elsewhere('to get it, run "trustadm token create --print-join-command" on the control plane'),
    )
  }
}

function caWithoutUrl(): TrustError {
  return wrong('a CA for the discovery file is only for an https:// URL')
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function wrong(message: string, ...hints: Hint[]): TrustError {
  return new TrustError('USAGE', message, {hints})
}
