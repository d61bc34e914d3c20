import type {UserInfo} from '../api/meta.ts'
import {clientCertificate, requireCertificates} from './credentials.ts'
import {readExecConfig} from './exec-config.ts'
import {readSmallFile} from './kubeconfig-files.ts'
import {
  kubeconfigInvalid,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
} from './kubeconfig.ts'
import {hostOf, isLoopback} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'

export interface AccessOptions {
  context?: string | undefined
  /** Names of entries to use instead of those of the context. */
  cluster?: string | undefined
  user?: string | undefined
  /** False for content from another machine: it must not refer to files or programs of this machine. */
  files?: boolean | undefined
}

/** The server and user of one context of a kubeconfig, including the files that it refers to. */
export async function resolveAccess(
  config: Kubeconfig,
  options: AccessOptions = {},
): Promise<ServerAccess> {
  const {files = true} = options
  const context = contextOf(config, options)
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.cluster
  if (!cluster) throw noEntry('cluster', context.cluster, config.clusters)
  const user = config.users.find((entry) => entry.name === context.user)?.user
  // As in kubectl: a context without a user is anonymous, a user that does not exist is a mistake.
  if (!user && context.user) throw noEntry('user', context.user, config.users)
  const access = await clusterAccess(cluster, files)
  const ofUser = await userAccess(user ?? {}, files)
  return {
    ...access,
    ...ofUser,
    // As in client-go, a token in the kubeconfig itself wins.
    ...(user?.exec != null &&
      !ofUser.bearerToken && {exec: readExecConfig(user.exec, cluster, access.ca)}),
    namespace: context.namespace,
  }
}

/** The context that is wanted or current, with the parts that replace its own. Without any, a cluster alone is enough. */
function contextOf(
  config: Kubeconfig,
  {context: wanted, cluster, user}: AccessOptions,
): {cluster: string; user: string; namespace?: string} {
  const name = wanted ?? config['current-context'] ?? ''
  const found = config.contexts.find((entry) => entry.name === name)?.context
  if (!found && (name !== '' || cluster === undefined)) throw noContext(name, config)
  const context = found ?? {cluster: '', user: ''}
  return {...context, cluster: cluster ?? context.cluster, user: user ?? context.user}
}

async function clusterAccess(cluster: KubeconfigCluster, files: boolean): Promise<ServerAccess> {
  const insecure = cluster['insecure-skip-tls-verify'] ?? false
  const ca = await material(cluster, 'certificate-authority', files)
  if (insecure && ca !== undefined) {
    throw kubeconfigInvalid(
      'the kubeconfig has both a CA and insecure-skip-tls-verify',
      'remove insecure-skip-tls-verify',
    )
  }
  if (ca !== undefined) requireCertificates(ca, 'certificate-authority')
  return {
    server: parseServer(cluster.server),
    ca,
    insecure,
    tlsServerName: nonEmpty(cluster['tls-server-name']),
    proxyUrl: nonEmpty(cluster['proxy-url']),
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

async function userAccess(user: KubeconfigUser, files: boolean): Promise<Partial<ServerAccess>> {
  refuseUnsupported(user, files)
  const certificate = await material(user, 'client-certificate', files)
  const key = isOneFile(user) ? certificate : await material(user, 'client-key', files)
  return {
    clientCertificate: clientCertificate(certificate, key),
    bearerToken: bearerToken(user, files),
    impersonate: impersonated(user),
  }
}

/** A pair in one file is read once: a renewal may replace it between two reads. */
const isOneFile = (user: KubeconfigUser): boolean =>
  !user['client-certificate-data'] &&
  !user['client-key-data'] &&
  user['client-certificate'] === user['client-key']

/** Inline data wins over a file, as in client-go. */
async function material(
  fields: Record<string, unknown>,
  name: string,
  files: boolean,
): Promise<string | undefined> {
  const data = fields[`${name}-data`]
  if (typeof data === 'string' && data !== '') return decode(data, `${name}-data`)
  const file = fields[name]
  if (typeof file !== 'string' || file === '') return undefined
  if (!files) throw foreignFile(name)
  return await readSmallFile(file, `the file of ${name}`)
}

function decode(data: string, name: string): string {
  const compact = data.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
    throw kubeconfigInvalid(`${name} in the kubeconfig is not base64`)
  }
  return Buffer.from(compact, 'base64').toString()
}

function bearerToken(
  {token, tokenFile}: KubeconfigUser,
  files: boolean,
): ServerAccess['bearerToken'] {
  if (!tokenFile) return token ? () => Promise.resolve(headerSafe(token)) : undefined
  if (!files) throw foreignFile('tokenFile')
  return tokenFromFile(tokenFile, token)
}

/** Reads the file before every request, because it may change; while it cannot be read, its last content is used. */
export function tokenFromFile(
  tokenFile: string,
  first?: string,
): NonNullable<ServerAccess['bearerToken']> {
  let last = first
  return async () => {
    try {
      last = (await readSmallFile(tokenFile, 'the token file')).trim() || last
    } catch (error) {
      if (!last) throw error
    }
    return last && headerSafe(last)
  }
}

function headerSafe(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw kubeconfigInvalid('the token in the kubeconfig has invalid characters')
}

function impersonated(user: KubeconfigUser): Partial<UserInfo> | undefined {
  if (!user.as) return undefined
  return {
    username: user.as,
    ...(user['as-uid'] && {uid: user['as-uid']}),
    ...(user['as-groups'] && {groups: user['as-groups']}),
    ...(user['as-user-extra'] && {extra: user['as-user-extra']}),
  }
}

function parseServer(text: string | undefined): string {
  if (!text) throw kubeconfigInvalid('the cluster in the kubeconfig has no server')
  const full = text.includes('://') ? text : `https://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (!url?.hostname || !['https:', 'http:'].includes(url.protocol)) {
    throw kubeconfigInvalid('the server in the kubeconfig is not an https:// URL')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw kubeconfigInvalid('the server in the kubeconfig must have only a host, a port and a path')
  }
  if (url.protocol === 'http:' && !isLoopback(hostOf(url))) {
    throw kubeconfigInvalid(
      'the server in the kubeconfig has an unencrypted http:// address',
      'use its https:// address; http:// is accepted only for this machine',
    )
  }
  return url.href
}

function refuseUnsupported(user: KubeconfigUser, files: boolean): void {
  const advice = 'use a client certificate, a token or a tokenFile'
  if (user.exec != null && !files) {
    throw kubeconfigInvalid(
      'the user gets its credentials from a program (exec), but this kubeconfig did not come from a file',
      advice,
    )
  }
  if (user['auth-provider'] !== undefined) {
    throw kubeconfigInvalid(
      'the user in the kubeconfig has an auth-provider, which Kubernetes no longer supports',
      advice,
    )
  }
  if (user.username || user.password) {
    throw kubeconfigInvalid(
      'the user in the kubeconfig has a user name and a password, which API servers no longer accept',
      advice,
    )
  }
}

function foreignFile(name: string) {
  return kubeconfigInvalid(`${name} refers to a file, but this kubeconfig did not come from a file`)
}

function noEntry(kind: string, name: string, entries: readonly {name: string}[]) {
  return kubeconfigInvalid(`the kubeconfig has no ${kind} "${name}"`, known(entries))
}

const known = (entries: readonly {name: string}[]): string =>
  entries.length === 0 ? 'it has none' : `it has: ${entries.map(({name}) => name).join(', ')}`

function noContext(name: string, config: Kubeconfig) {
  return name === ''
    ? kubeconfigInvalid(
        'there is no kubeconfig with a current context',
        'use --kubeconfig, or create a cluster with "trustadm init"',
      )
    : kubeconfigInvalid(`the kubeconfig has no context "${name}"`, known(config.contexts))
}
