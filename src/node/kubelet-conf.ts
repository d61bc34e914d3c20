import {basename, dirname} from 'node:path'
import {parseDocument} from 'yaml'
import {
  formatClusterInfo,
  ISSUERS_EXTENSION,
  issuersExtension,
  readIssuers,
} from '../bootstrap/cluster-info.ts'
import {clientCertificate} from '../client/credentials.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {withFullPaths} from '../client/kubeconfig-files.ts'
import {
  kubeconfigInvalid,
  parseKubeconfig,
  type Kubeconfig,
  type KubeconfigUser,
} from '../client/kubeconfig.ts'
import {withoutTrailingSlashes} from '../client/server-access.ts'
import {inFile, requireFaithful} from '../discovery/bootstrap-kubeconfig.ts'
import {parseStored, type TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {hasCode, TrustError} from '../errors.ts'
import {unreadable} from '../fs/file-checks.ts'
import {readFileIfThere, readFileSafely} from '../fs/files.ts'
import {requireSafeFolder} from '../fs/folders.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {CredentialStore, type StoredCredential} from './credential-store.ts'
import {nodeFile} from './node-files.ts'

/** The link to the pair in use, which kubeconfigs of nodes refer to. */
const LINK = 'kubelet-client-current.pem'
const KEY_INSIDE = /client-key-data|PRIVATE KEY/
const MOST_BYTES = 4 * 1024 * 1024

/** A pair that kubelet.conf names, other than the managed one of the certificate folder. */
export interface NamedPair extends StoredCredential {
  /** Whether a certificate manager got it, and keeps it in another folder; else it is to be renewed at once, as the kubelet does. */
  isManaged: boolean
}

/** kubelet.conf in the folder of a node. Whatever is wrong with it is said once it is needed. */
export interface KubeletConf {
  path: string
  /** Whether its key is inside: then it would be lost with the file. */
  hasKeyInside: boolean
  /** Which cluster it trusts. */
  cluster(): Promise<TrustedClusterInfo>
  /** The pair that it names; undefined if that is the one of the folder, or if it names none. */
  pair(certDir: string, now: Date): Promise<NamedPair | undefined>
}

/** Undefined if there is none. */
export async function readKubeletConf(dir: string): Promise<KubeletConf | undefined> {
  const path = nodeFile(dir, 'kubeconfig')
  let text: string | undefined
  let config: Kubeconfig | undefined
  let problem: unknown
  try {
    text = (await readFileIfThere(path, {secret: true, maxBytes: MOST_BYTES}))?.toString()
    if (text === undefined) return undefined
    config = withFullPaths(parseKubeconfig(text, path), path)
  } catch (error) {
    problem = error
  }
  const parsed = async () => {
    if (!config) throw moveAway(path, problem)
    // Whoever may write to the folder could have put the file there.
    await requireSafeFolder(dir)
    return config
  }
  const user = config && userOf(config)
  return {
    path,
    hasKeyInside: config ? Boolean(user?.['client-key-data']) : KEY_INSIDE.test(text ?? ''),
    cluster: async () => await clusterIn(await parsed(), path),
    pair: async (certDir, now) => await pairIn(userOf(await parsed()), path, {certDir, now}),
  }
}

const contextOf = ({contexts, 'current-context': name}: Kubeconfig) =>
  (contexts.find((one) => one.name === name) ?? contexts[0])?.context

/** Of the current context; a file that has only users is read, too. */
export function userOf(config: Kubeconfig): KubeconfigUser | undefined {
  const name = contextOf(config)?.user
  return (config.users.find((one) => one.name === name) ?? config.users[0])?.user
}

/** The folder that the current pair is managed in, by what a user of a kubeconfig refers to. */
export const managedFolderOf = (user: KubeconfigUser | undefined): string | undefined => {
  const file = user?.['client-certificate']
  if (!file || user['client-certificate-data'] || basename(file) !== LINK) return undefined
  return dirname(file)
}

async function clusterIn(config: Kubeconfig, path: string): Promise<TrustedClusterInfo> {
  const context = contextOf(config)
  const named = config.clusters.find((one) => one.name === context?.cluster)?.cluster
  const file = named?.['certificate-authority']
  if (file && !named['certificate-authority-data']) await requireSafeFolder(dirname(file))
  // Without users: their keys are of no interest here.
  const nobody = config.users.map(({name}) => ({name, user: {}}))
  const access = await resolveAccess({...config, users: nobody}).catch((error: unknown) => {
    throw inFile(path, error)
  })
  requireFaithful(access, path)
  const {ca, tlsServerName} = access
  const issuers = readIssuers(named?.extensions)
  const server = withoutTrailingSlashes(access.server)
  return parseStored(
    formatClusterInfo({
      server,
      ...(ca !== undefined && {ca}),
      ...(tlsServerName !== undefined && {tlsServerName}),
      ...(issuers !== undefined && {issuers}),
    }),
    path,
  )
}

async function pairIn(
  user: KubeconfigUser | undefined,
  path: string,
  {certDir, now}: {certDir: string; now: Date},
): Promise<NamedPair | undefined> {
  const folder = managedFolderOf(user)
  if (folder === certDir) return undefined
  if (folder !== undefined) {
    const store = new CredentialStore(folder)
    const found = (await store.read()) ?? (await store.findUnlinked(now))
    return found && {...found, isManaged: true}
  }
  try {
    const [certificate, key] = [
      await material(user, 'client-certificate'),
      await material(user, 'client-key'),
    ]
    const pair = clientCertificate(certificate, key)
    if (!pair) return undefined
    const certificatePem = `${pair.certificate}\n`
    return {
      certificatePem,
      keyPem: pair.key,
      certificate: parseCertificate(certificatePem),
      file: user?.['client-certificate-data'] ? path : (user?.['client-certificate'] ?? path),
      isManaged: false,
    }
  } catch (error) {
    throw hasCode(error, 'KUBECONFIG_INVALID') ? moveAway(path, error) : error
  }
}

/** Inline data wins over a file, as in client-go. */
async function material(
  user: KubeconfigUser | undefined,
  name: 'client-certificate' | 'client-key',
): Promise<string | undefined> {
  const data = user?.[`${name}-data`]
  if (data) return Buffer.from(data, 'base64').toString()
  const file = user?.[name]
  if (!file) return undefined
  await requireSafeFolder(dirname(file))
  return (await readFileSafely(file, {secret: name === 'client-key'})).toString()
}

/** What is in kubelet.conf may be the only copy of a key: it is never replaced before somebody has looked at it. */
function moveAway(path: string, cause: unknown): TrustError {
  const {code, message, facts} = cause instanceof TrustError ? cause : unreadable(path, cause)
  return new TrustError(code, message.includes(path) ? message : `${path}: ${message}`, {
    cause,
    facts,
    hints: [
      `correct ${path}, or move it away if nobody needs the key in it`,
      'then run the command again; "trustadm join" writes a new one',
    ],
  })
}

/** What changes in a kubelet.conf that is not trustadm's. */
export interface KubeletConfChange {
  /** The CAs and who signs now. */
  trust?: Pick<TrustedClusterInfo, 'ca' | 'issuers'>
  server?: string
  /** The link to the managed pair, instead of the pair that it has. */
  link?: string
}

/** The text with other CAs or credentials. All else in it stays. */
export function changeKubeletConf(
  text: string,
  path: string,
  {trust, server, link}: KubeletConfChange,
): string {
  const config = parseKubeconfig(text, path)
  const context = contextOf(config)
  const cluster = config.clusters.findIndex((one) => one.name === context?.cluster)
  const user = config.users.findIndex((one) => one.name === context?.user)
  if (cluster < 0) throw kubeconfigInvalid(`${path} has no cluster in its current context`)
  const document = parseDocument(text)
  const inCluster = (name: string) => ['clusters', cluster, 'cluster', name]
  const inUser = (name: string) => ['users', user, 'user', name]
  if (server !== undefined) document.setIn(inCluster('server'), server)
  if (trust) {
    const {ca, issuers} = trust
    if (ca !== undefined) {
      document.deleteIn(inCluster('certificate-authority'))
      const data = Buffer.from(ca).toString('base64')
      document.setIn(inCluster('certificate-authority-data'), data)
    }
    const known = config.clusters[cluster]?.cluster.extensions
    const others = (Array.isArray(known) ? (known as ({name?: unknown} | null)[]) : []).filter(
      (one) => one?.name !== ISSUERS_EXTENSION,
    )
    const kept = [...others, ...issuersExtension(issuers)]
    if (kept.length === 0) document.deleteIn(inCluster('extensions'))
    else document.setIn(inCluster('extensions'), document.createNode(kept))
  }
  if (link !== undefined && user >= 0) {
    for (const name of ['client-certificate-data', 'client-key-data', 'token', 'tokenFile'])
      document.deleteIn(inUser(name))
    document.setIn(inUser('client-certificate'), link)
    document.setIn(inUser('client-key'), link)
  }
  return document.toString({lineWidth: 0, indentSeq: false})
}
