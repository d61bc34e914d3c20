import {stringify} from 'yaml'
import type {ConfigMap} from '../api/core.ts'
import {elsewhere, TrustError, type Hint} from '../errors.ts'
import {encodeBundle, parseBundle} from '../pki/bundle.ts'
import {isTokenId} from './token.ts'

/** What nodes have to know about the CAs of a control plane in which clients have CAs of their own. */
export interface NodeIssuers {
  /** The key of the CA that signs the certificates of nodes now, as subject key identifier. A node whose certificate is from another one renews it. */
  client?: string
  serving?: string
  /** The CAs whose certificates kubelets accept from their callers, as PEM. */
  kubeletClientCa?: string
}

/** The extension of the cluster in cluster-info's kubeconfig. Other programs ignore extensions that they do not know. */
export const ISSUERS_EXTENSION = 'trustadm.io/node-issuers'

const KEY_ID = /^[0-9a-f]{1,128}$/

const keyIdOf = (value: unknown): string | undefined =>
  typeof value === 'string' && KEY_ID.test(value) ? value : undefined

/** In characters: two generations, each with some CAs beside it. */
const LARGEST = 64 * 1024

function bundleOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LARGEST) return undefined
  try {
    return encodeBundle(parseBundle(value))
  } catch {
    return undefined
  }
}

/** The `extensions` of a kubeconfig's cluster. */
export const issuersExtension = (issuers: NodeIssuers | undefined): object[] =>
  issuers === undefined ? [] : [{name: ISSUERS_EXTENSION, extension: {...issuers}}]

/** Reads the `extensions` of a kubeconfig's cluster. What cannot be read does not count: nothing is trusted because of it. */
export function readIssuers(extensions: unknown): NodeIssuers | undefined {
  if (!Array.isArray(extensions)) return undefined
  const found = (extensions as ({name?: unknown; extension?: unknown} | null)[]).find(
    (one) => one?.name === ISSUERS_EXTENSION,
  )
  if (typeof found?.extension !== 'object' || found.extension === null) return undefined
  const {client, serving, kubeletClientCa} = found.extension as Record<keyof NodeIssuers, unknown>
  const [clientKey, servingKey] = [keyIdOf(client), keyIdOf(serving)]
  const bundle = bundleOf(kubeletClientCa)
  return {
    ...(clientKey !== undefined && {client: clientKey}),
    ...(servingKey !== undefined && {serving: servingKey}),
    ...(bundle !== undefined && {kubeletClientCa: bundle}),
  }
}

/** How to reach a cluster and with which CAs to verify it. */
export interface ClusterInfo {
  /** An https:// URL. */
  server: string
  /** The CAs as PEM; absent to trust those of the system. */
  ca?: string
  /** The name in the server's certificate, if it is not the one in the URL. */
  tlsServerName?: string
  /** Which CAs sign for nodes now; absent before the first rotation, and in other clusters. */
  issuers?: NodeIssuers
}

export const CLUSTER_INFO_NAMESPACE = 'kube-public'
export const CLUSTER_INFO_NAME = 'cluster-info'
export const KUBECONFIG_KEY = 'kubeconfig'
const JWS_KEY_PREFIX = 'jws-kubeconfig-'

/** The key of the signature by the token with this id. */
export const jwsKey = (id: string): string => JWS_KEY_PREFIX + id

export const isJwsKey = (key: string): boolean => key.startsWith(JWS_KEY_PREFIX)

/** The id of the token whose signature a key is for; undefined for all other keys. */
export function tokenIdOfJwsKey(key: string): string | undefined {
  const id = isJwsKey(key) ? key.slice(JWS_KEY_PREFIX.length) : ''
  return isTokenId(id) ? id : undefined
}

/** The kubeconfig of cluster-info in kubeadm's own form: one cluster with an empty name, and nothing else in it. */
export function formatClusterInfo({server, ca, tlsServerName, issuers}: ClusterInfo): string {
  const extensions = issuersExtension(issuers)
  const cluster = {
    ...(ca !== undefined && {'certificate-authority-data': Buffer.from(ca).toString('base64')}),
    server,
    ...(tlsServerName !== undefined && {'tls-server-name': tlsServerName}),
    ...(extensions.length > 0 && {extensions}),
  }
  return stringify(
    {
      apiVersion: 'v1',
      clusters: [{cluster, name: ''}],
      contexts: null,
      'current-context': '',
      kind: 'Config',
      preferences: {},
      users: null,
    },
    {lineWidth: 0, indentSeq: false},
  )
}

/** The ConfigMap before any token has signed it. */
export function clusterInfoConfigMap(info: ClusterInfo): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: CLUSTER_INFO_NAME, namespace: CLUSTER_INFO_NAMESPACE},
    data: {[KUBECONFIG_KEY]: formatClusterInfo(info)},
  }
}

/** The name of the published one in errors; anything else is a document of the user. */
const PUBLISHED = 'cluster-info'

const REPUBLISH = elsewhere(
  'to publish it again, run "trustadm init phase cluster-info" on the control plane',
)

export function clusterInfoInvalid(source: string, problem: string, ...hints: Hint[]): TrustError {
  const form = 'it must be a kubeconfig with one cluster: a server and its CA, and nothing else'
  const advice = source === PUBLISHED ? [REPUBLISH] : [form]
  return new TrustError('CLUSTER_INFO_INVALID', `${source} cannot be used: ${problem}`, {
    hints: hints.length > 0 ? hints : advice,
  })
}

export function credentialsInside(source: string, field: string): TrustError {
  return new TrustError(
    'CLUSTER_INFO_CREDENTIALS',
    `${source} contains credentials (${field}), and cluster-info must not`,
    {
      hints: [
        `remove ${field}; if others could read it, replace those credentials`,
        source === PUBLISHED
          ? REPUBLISH
          : 'to authenticate this machine, use --tls-bootstrap-token',
      ],
      facts: {field},
    },
  )
}
