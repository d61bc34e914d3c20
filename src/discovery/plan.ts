import {parseToken, type BootstrapToken} from '../bootstrap/token.ts'
import {TrustError} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {parsePin, type Pin} from '../pki/pins.ts'
import {parseEndpoint} from './endpoint.ts'

/** What a user says about discovery, as `kubeadm join` and a JoinConfiguration name it. An empty text counts as not given. */
export interface DiscoveryOptions {
  /** A path, an https:// URL, or `-` for standard input. */
  file?: string | undefined
  /** The CAs for the host of an https:// URL, as PEM, in place of the system's. */
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
  | {method: 'file'; path: string}
  | {method: 'https'; url: URL; ca: string | undefined}
  | {method: 'stdin'}

/** Checks the options against each other, before anything is read or asked. */
export function planDiscovery(options: DiscoveryOptions): DiscoveryPlan {
  const file = given(options.file)
  const token = given(options.token)
  if (file !== undefined && token !== undefined) {
    throw wrong(
      'both a discovery file and a discovery token are given, and only one can say whom to trust',
      'leave one out; --token counts as --discovery-token',
      'with a discovery file, the token to authenticate with is --tls-bootstrap-token',
    )
  }
  if (file !== undefined) return planFile(file, options)
  if (token !== undefined) return planToken(token, options)
  if ((options.endpoints ?? []).length > 0) {
    throw wrong(
      'there is an address, but no token to know the cluster by',
      'add --token, --token-file or $TRUSTADM_TOKEN; or leave the address out and give a --discovery-file',
      '"trustadm token create --print-join-command" on the control plane prints the whole line',
    )
  }
  throw wrong(
    'nothing says how to find the cluster',
    'give an address with --token, or a --discovery-file',
    '"trustadm token create --print-join-command" on the control plane prints the whole line',
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
      'discovery by a token without a CA certificate hash is unsafe: everybody who knows the token could pretend to be the cluster',
      'add --discovery-token-ca-cert-hash (caCertHashes in a configuration); "trustadm token create --print-join-command" on the control plane prints the whole line',
      'to join all the same, add --discovery-token-unsafe-skip-ca-verification (unsafeSkipCAVerification: true in a configuration)',
    )
  }
  return {method: 'token', token, endpoints: servers, pins}
}

function planFile(file: string, options: DiscoveryOptions): DiscoveryPlan {
  if ((options.endpoints ?? []).length > 0) {
    throw wrong('an address is given, but the discovery file says where the cluster is')
  }
  if ((options.caCertHashes ?? []).length > 0) {
    throw wrong('a CA certificate hash goes with a token, not with a discovery file')
  }
  const ca = given(options.fileCa)
  if (/^https:/i.test(file)) return {method: 'https', url: readUrl(file), ca: ca && readCa(ca)}
  if (ca !== undefined) throw caWithoutUrl()
  if (file === '-') return {method: 'stdin'}
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(file)) {
    throw wrong(
      'a discovery file is fetched over https:// only, for whoever is on the way could change what comes over anything else',
      'serve it over https://, or copy it here and give its path',
    )
  }
  return {method: 'file', path: file}
}

/** The URL is not shown: it may hold a password, or be secret as a whole. */
function readUrl(text: string): URL {
  const url = !/\s/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url?.hostname) throw wrong('the URL of the discovery file is malformed')
  if (url.username || url.password) {
    throw wrong('the URL of the discovery file holds a user or a password, which are not sent')
  }
  return url
}

function readCa(pem: string): string {
  try {
    parseBundle(pem)
    return pem
  } catch (cause) {
    throw new TrustError('USAGE', 'the CA for the discovery file holds no certificate in PEM', {
      cause,
    })
  }
}

/** Not shown either: what stands in the wrong place may be the token. */
function readPin(text: string, index: number): Pin {
  try {
    return parsePin(text)
  } catch {
    throw wrong(
      `CA certificate hash ${index + 1} is invalid: it is not "sha256:" and 64 hexadecimal digits`,
      '"trustadm token create --print-join-command" on the control plane prints it',
    )
  }
}

function caWithoutUrl(): TrustError {
  return wrong('a CA for the discovery file goes with an https:// URL only')
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function wrong(message: string, ...hints: string[]): TrustError {
  return new TrustError('USAGE', message, {hints})
}
