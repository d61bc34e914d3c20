import {writeFileSafely} from '../fs/files.ts'
import type {BeforeWrite} from '../pki/pair-store.ts'
import {
  formatKubeconfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
} from './kubeconfig.ts'

export interface KubeconfigSpec {
  server: string
  /** The cluster's CAs as PEM; without them the server is verified with the system's. */
  ca?: string | undefined
  /** The name in the server's certificate, if it is not the one in the URL. */
  tlsServerName?: string | undefined
  /** Extensions of the cluster's entry, which other programs ignore. */
  extensions?: readonly object[] | undefined
  userName: string
  clusterName?: string
  namespace?: string
  credentials: KubeconfigCredentials
}

export type KubeconfigCredentials =
  | {certificate: string; key: string}
  | {certificateFile: string; keyFile: string}
  | {token: string}
  | {tokenFile: string}

/** A kubeconfig with one context, named as kubeadm names it: `user@cluster`. */
export function buildKubeconfig(spec: KubeconfigSpec): Kubeconfig {
  const {userName, clusterName = 'kubernetes', namespace, credentials} = spec
  const context = `${userName}@${clusterName}`
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{name: clusterName, cluster: clusterOf(spec)}],
    contexts: [
      {
        name: context,
        context: {cluster: clusterName, user: userName, ...(namespace && {namespace})},
      },
    ],
    'current-context': context,
    users: [{name: userName, user: userOf(credentials)}],
  }
}

/** Replaces the whole file; only its owner may read it, because it contains keys. */
export async function writeKubeconfig(
  path: string,
  config: Kubeconfig,
  beforeWrite?: BeforeWrite,
): Promise<void> {
  const data = formatKubeconfig(config)
  await beforeWrite?.([{path, data}])
  await writeFileSafely(path, data, {mode: 0o600})
}

function clusterOf({
  server,
  ca,
  tlsServerName,
  extensions = [],
}: KubeconfigSpec): KubeconfigCluster {
  return {
    ...(ca !== undefined && {'certificate-authority-data': base64(ca)}),
    ...(extensions.length > 0 && {extensions}),
    server,
    ...(tlsServerName !== undefined && {'tls-server-name': tlsServerName}),
  }
}

function userOf(credentials: KubeconfigCredentials): KubeconfigUser {
  if ('token' in credentials) return {token: credentials.token}
  if ('tokenFile' in credentials) return {tokenFile: credentials.tokenFile}
  if ('certificateFile' in credentials) {
    const {certificateFile, keyFile} = credentials
    return {'client-certificate': certificateFile, 'client-key': keyFile}
  }
  const {certificate, key} = credentials
  return {'client-certificate-data': base64(certificate), 'client-key-data': base64(key)}
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
