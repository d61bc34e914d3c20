import {isDeepStrictEqual} from 'node:util'
import {type Document, parseDocument} from 'yaml'
import {encodeBundle, isSameBundle, parseBundle} from '../pki/bundle.ts'
import type {Certificate} from '../pki/certificate.ts'
import {parsePem} from '../pki/pem.ts'
import {
  type ClusterInfo,
  clusterInfoInvalid,
  credentialsInside,
  formatClusterInfo,
  type NodeIssuers,
  readIssuers,
} from './cluster-info.ts'

type Fields = Record<string, unknown>

const LARGEST = 1024 * 1024
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const CLUSTER = 'clusters[0].cluster'

/**
 * Reads a kubeconfig that says where a cluster is. Stricter than kubeadm: exactly one cluster, https only, no credentials,
 * and no file of this machine. No error quotes the text: any line may be part of a key.
 */
export function parseClusterInfo(text: string, source = 'cluster-info'): ClusterInfo {
  const config = readYaml(text, source)
  const credential = findCredential(config)
  if (credential !== undefined) throw credentialsInside(source, credential)
  const {name, cluster} = onlyCluster(config, source)
  requireCurrentCluster(config, name, source)
  refuseUnsafe(cluster, source)
  const ca = readCa(cluster['certificate-authority-data'], source)
  const tlsServerName = textOf(cluster, 'tls-server-name', source)
  const issuers = readIssuers(cluster.extensions)
  return {
    server: readServer(textOf(cluster, 'server', source), source),
    ...(ca !== undefined && {ca}),
    ...(tlsServerName !== undefined && {tlsServerName}),
    ...(issuers !== undefined && {issuers}),
  }
}

/**
 * The kubeconfig with its CA inside, if it names a file instead. As in kubeadm, the file does not count if the CA is inside already.
 * Only for a document on this machine: what comes from elsewhere does not choose files here.
 */
export async function withInlineAuthority(
  text: string,
  source: string,
  read: (path: string) => Promise<string>,
): Promise<string> {
  const {cluster} = onlyCluster(readYaml(text, source), source)
  const path = textOf(cluster, 'certificate-authority', source)
  if (path === undefined) return text
  const document = parseYaml(text, source)
  const field = ['clusters', 0, 'cluster', 'certificate-authority']
  document.deleteIn(field)
  if ((cluster['certificate-authority-data'] ?? '') === '') {
    const pem = await read(path)
    if (!pem.includes('-----BEGIN ')) {
      throw clusterInfoInvalid(
        source,
        `${CLUSTER}.certificate-authority names ${path}, which contains no PEM certificates`,
        'name the file with the CA of the cluster',
      )
    }
    document.setIn(
      ['clusters', 0, 'cluster', 'certificate-authority-data'],
      Buffer.from(pem).toString('base64'),
    )
  }
  return document.toString({lineWidth: 0})
}

/**
 * The kubeconfig with these CAs and issuers instead of its own. Returned unchanged if it has the same CAs, has none (then the system's
 * are trusted), or cannot be read, which its readers report.
 */
export function withAuthorities(text: string, ca: string, issuers?: NodeIssuers): string {
  let info: ClusterInfo
  try {
    info = parseClusterInfo(text)
  } catch {
    return text
  }
  const isCurrent = info.ca === undefined || isSameBundle(info.ca, ca)
  if (isCurrent && isDeepStrictEqual(info.issuers, issuers)) return text
  const {issuers: _issuers, ...rest} = info
  return formatClusterInfo({...rest, ...(info.ca !== undefined && {ca}), ...(issuers && {issuers})})
}

/** The CAs in a kubeconfig that are not among these; none if it cannot be read. */
export function otherAuthorities(text: string, ca: string): Certificate[] {
  try {
    const own = new Set(parseBundle(ca).map(({fingerprint}) => fingerprint))
    const found = parseClusterInfo(text).ca
    return found === undefined ? [] : parseBundle(found).filter((one) => !own.has(one.fingerprint))
  } catch {
    return []
  }
}

function readYaml(text: string, source: string): Fields {
  if (text.length > LARGEST) throw clusterInfoInvalid(source, 'it is larger than 1 MiB')
  const document = parseYaml(text, source)
  const [problem] = document.errors
  if (problem) {
    const line = text.slice(0, problem.pos[0]).split('\n').length
    throw clusterInfoInvalid(source, `it is not YAML (line ${line}: ${problem.code})`)
  }
  let value: unknown
  try {
    value = document.toJS({maxAliasCount: 0})
  } catch {
    throw clusterInfoInvalid(source, 'it uses YAML aliases')
  }
  if (!isFields(value)) throw clusterInfoInvalid(source, 'it is not a kubeconfig')
  if ((value.kind ?? 'Config') !== 'Config' || (value.apiVersion ?? 'v1') !== 'v1') {
    throw clusterInfoInvalid(source, 'its kind is not Config of v1')
  }
  return value
}

function parseYaml(text: string, source: string): Document.Parsed {
  try {
    return parseDocument(text, {prettyErrors: false, uniqueKeys: true})
  } catch {
    throw clusterInfoInvalid(source, 'it is nested too deeply')
  }
}

function onlyCluster({clusters}: Fields, source: string): {name: string; cluster: Fields} {
  if (!Array.isArray(clusters) || clusters.length !== 1) {
    const count = Array.isArray(clusters) ? clusters.length : 0
    throw clusterInfoInvalid(source, `it has ${count === 0 ? 'no cluster' : `${count} clusters`}`)
  }
  const entry: unknown = clusters[0]
  if (!isFields(entry) || !isFields(entry.cluster)) {
    throw clusterInfoInvalid(source, `${CLUSTER} is not a map`)
  }
  const name = entry.name ?? ''
  if (typeof name !== 'string') throw clusterInfoInvalid(source, 'clusters[0].name is not a string')
  return {name, cluster: entry.cluster}
}

/** There may be a current context, as kubectl writes it, but it must refer to the one cluster. */
function requireCurrentCluster(config: Fields, cluster: string, source: string): void {
  const current = config['current-context'] ?? ''
  if (current === '') return
  const contexts: unknown[] = Array.isArray(config.contexts) ? config.contexts : []
  const leads = contexts.some(
    (entry) =>
      isFields(entry) &&
      entry.name === current &&
      isFields(entry.context) &&
      entry.context.cluster === cluster,
  )
  if (!leads) throw clusterInfoInvalid(source, 'its current-context does not refer to its cluster')
}

function refuseUnsafe(cluster: Fields, source: string): void {
  const insecure = cluster['insecure-skip-tls-verify'] ?? false
  if (insecure !== false) {
    throw clusterInfoInvalid(source, `${CLUSTER}.insecure-skip-tls-verify would trust any server`)
  }
  if (textOf(cluster, 'certificate-authority', source) !== undefined) {
    throw clusterInfoInvalid(
      source,
      `${CLUSTER}.certificate-authority names a file`,
      'include the CA as certificate-authority-data, for example with "kubectl config view --flatten"',
    )
  }
  if (textOf(cluster, 'proxy-url', source) !== undefined) {
    throw clusterInfoInvalid(
      source,
      `${CLUSTER}.proxy-url chooses a proxy for this machine`,
      'set HTTPS_PROXY on this machine instead',
    )
  }
}

function readCa(data: unknown, source: string): string | undefined {
  const field = `${CLUSTER}.certificate-authority-data`
  if (data == null || data === '') return undefined
  const compact = typeof data === 'string' ? data.replace(/\s+/g, '') : ''
  if (!BASE64.test(compact) || compact.length % 4 !== 0) {
    throw clusterInfoInvalid(source, `${field} is not base64`)
  }
  const pem = Buffer.from(compact, 'base64').toString()
  try {
    if (!parsePem(pem).some(({label}) => label.endsWith('PRIVATE KEY'))) {
      return encodeBundle(parseBundle(pem))
    }
  } catch {
    throw clusterInfoInvalid(source, `${field} does not contain PEM certificates`)
  }
  throw credentialsInside(source, field)
}

function readServer(text: string | undefined, source: string): string {
  const field = `${CLUSTER}.server`
  if (text === undefined) throw clusterInfoInvalid(source, `${field} is missing`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.hostname === '') {
    throw clusterInfoInvalid(source, `${field} is not an https:// address`)
  }
  if (url.username !== '' || url.password !== '') throw credentialsInside(source, field)
  if (url.search !== '' || url.hash !== '') {
    throw clusterInfoInvalid(source, `${field} must have only a host, a port and a path`)
  }
  return text
}

function textOf(cluster: Fields, field: string, source: string): string | undefined {
  const value = cluster[field] ?? ''
  if (typeof value !== 'string')
    throw clusterInfoInvalid(source, `${CLUSTER}.${field} is not a string`)
  // A URL parser ignores line feeds and spaces, so that another text would be stored than the one that was checked.
  // eslint-disable-next-line no-control-regex -- control characters are what this refuses
  if (/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(value)) {
    throw clusterInfoInvalid(
      source,
      `${CLUSTER}.${field} contains a space, a line feed or a control character`,
    )
  }
  return value === '' ? undefined : value
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Fields of a kubeconfig that contain credentials, or say where to get them. */
const CREDENTIAL_FIELDS = new Set([
  'as',
  'as-groups',
  'as-uid',
  'as-user-extra',
  'auth-provider',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'exec',
  'password',
  'token',
  'tokenFile',
  'username',
])

/** The path of the first credential anywhere in a kubeconfig; a user without credentials counts too. */
function findCredential(config: Fields): string | undefined {
  const found = search(config, '')
  if (found !== undefined) return found
  const {users} = config
  if (users == null || (Array.isArray(users) && users.length === 0)) return undefined
  return Array.isArray(users) ? 'users[0]' : 'users'
}

function search(value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) {
    return firstOf(value.map((item: unknown, index) => () => search(item, `${path}[${index}]`)))
  }
  if (typeof value !== 'object' || value === null) return undefined
  return firstOf(
    Object.entries(value).map(([key, inner]) => () => {
      const here = path === '' ? key : `${path}.${key}`
      return CREDENTIAL_FIELDS.has(key) && inner != null ? here : search(inner, here)
    }),
  )
}

function firstOf(searches: (() => string | undefined)[]): string | undefined {
  for (const attempt of searches) {
    const found = attempt()
    if (found !== undefined) return found
  }
  return undefined
}
