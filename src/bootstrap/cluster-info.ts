import {stringify} from 'yaml'
import type {ConfigMap} from '../api/core.ts'
import {issuersExtension, type NodeIssuers} from './issuers-extension.ts'
import {isTokenId} from './token.ts'

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
