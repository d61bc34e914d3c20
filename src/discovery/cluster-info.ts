import {isIP} from 'node:net'
import {parseDocument} from 'yaml'
import {type ClusterInfo, issuersExtension} from '../bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {TrustError} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {type Certificate, isSelfIssued} from '../pki/certificate.ts'
import {type Pin, pinOf} from '../pki/pins.ts'

export type DiscoverySource = 'token' | 'kubeconfig' | 'file' | 'https' | 'stdin'

/** Where a cluster is and how to recognize it, from a source that may be trusted. */
export interface TrustedClusterInfo extends ClusterInfo {
  /** Addresses of the cluster other than `server`, as https:// URLs; the one that responded comes first. */
  endpoints: string[]
  /** The text that all of this was read from, byte for byte. */
  kubeconfig: string
  /** The pins of the cluster's roots, for `--discovery-token-ca-cert-hash`. */
  pins: Pin[]
  source: DiscoverySource
  /**
   * The ids of the tokens that have signed cluster-info, if a document was checked against it. Hidden by a cluster that does not show
   * it, perhaps because its init has not finished.
   */
  signers?: readonly string[] | 'hidden'
  /** Warnings for the user, one sentence each. */
  warnings: string[]
}

export const authoritiesOf = ({ca}: Pick<ClusterInfo, 'ca'>): Certificate[] =>
  ca === undefined ? [] : parseBundle(ca)

/** The pins that trust exactly these CAs: a CA that a root has signed needs none. */
export function pinsOf(authorities: readonly Certificate[]): Pin[] {
  const roots = authorities.filter(isSelfIssued)
  return [...new Set((roots.length > 0 ? roots : authorities).map(pinOf))]
}

const FORM = /^(?:https:\/\/)?(\[[0-9A-Fa-f:.]+\]|[^\s:/@?#[\]]+):(\d{1,5})\/?$/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The https:// URL for `host:port`, the address of an API server. As in kubeadm, the port is required. */
export function parseEndpoint(text: string, index = 0): string {
  const [, host = '', port = ''] = FORM.exec(text) ?? []
  if (!isHost(host) || Number(port) < 1 || Number(port) > 65_535) {
    // Not repeated in the message: it may be a token in the wrong place.
    throw new TrustError('USAGE', `endpoint ${index + 1} is not the address of an API server`, {
      hints: ['an address is host:port, such as 10.0.0.1:6443, [fd00::1]:6443 or api.example:6443'],
    })
  }
  return `https://${host.toLowerCase()}:${Number(port)}`
}

/** Of an API server, unless it is told otherwise. */
const DEFAULT_PORT = 6443
/** A token, also a mistyped one: asking DNS for it would show it to strangers. */
const TOKEN_LIKE = /^[a-z0-9]{4,8}\.[a-z0-9]{12,20}$/i

/** A bare domain or IP address with the port that API servers usually have; any other text as it is. */
export function withDefaultPort(text: string): string {
  // The last group of "fd00::1:6443" may be meant as a port.
  const host = isIP(text) === 6 && !/:\d{4}$/.test(text) ? `[${text}]` : text
  return isHost(host) && !TOKEN_LIKE.test(host) ? `${host}:${DEFAULT_PORT}` : text
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return isIP(host.slice(1, -1)) === 6
  if (isIP(host) === 4) return true
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  // A host that ends in a number would be read as an IPv4 address in an old form.
  return (
    host.length <= 253 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  )
}

/** The extension of a kubeconfig's cluster with its other addresses. Other programs ignore extensions that they do not know. */
const ENDPOINTS_EXTENSION = 'trustadm.io/endpoints'

interface NamedExtension {
  name: string
  extension: {endpoints: string[]}
}

/** The `extensions` of a kubeconfig's cluster with its other addresses. */
export function endpointsExtension(endpoints: readonly string[]): NamedExtension[] {
  return endpoints.length === 0
    ? []
    : [{name: ENDPOINTS_EXTENSION, extension: {endpoints: [...endpoints]}}]
}

/** The other addresses in a kubeconfig that has been checked. Invalid addresses are ignored. */
export function readEndpoints(kubeconfig: string): string[] {
  const config = parseDocument(kubeconfig).toJS({maxAliasCount: 0}) as Config
  const extensions = config.clusters?.[0]?.cluster?.extensions
  if (!Array.isArray(extensions)) return []
  const found = (extensions as (Partial<NamedExtension> | null)[]).find(
    (extension) => extension?.name === ENDPOINTS_EXTENSION,
  )
  const endpoints: unknown = found?.extension?.endpoints
  return Array.isArray(endpoints) ? endpoints.flatMap(toEndpoint) : []
}

interface Config {
  clusters?: {cluster?: {extensions?: unknown}}[]
}

function toEndpoint(value: unknown): string[] {
  try {
    return typeof value === 'string' ? [parseEndpoint(value)] : []
  } catch {
    return []
  }
}

/**
 * ClusterInfo as a node stores it: the cluster's own kubeconfig, with its other addresses in an extension. It has no
 * credentials, so it can be used as `--discovery-file` too.
 */
export function formatStored({
  kubeconfig,
  endpoints,
  issuers,
}: Pick<TrustedClusterInfo, 'kubeconfig' | 'endpoints' | 'issuers'>): string {
  const document = parseDocument(kubeconfig)
  const extensions = ['clusters', 0, 'cluster', 'extensions']
  document.deleteIn(extensions)
  const kept = [...endpointsExtension(endpoints), ...issuersExtension(issuers)]
  if (kept.length > 0) document.setIn(extensions, document.createNode(kept))
  return document.toString({lineWidth: 0})
}

export function parseStored(text: string, source = 'the stored cluster-info'): TrustedClusterInfo {
  const info = parseClusterInfo(text, source)
  return {
    ...info,
    endpoints: readEndpoints(text),
    kubeconfig: text,
    pins: pinsOf(authoritiesOf(info)),
    source: 'file',
    warnings: [],
  }
}
