import type {Patience} from '../../client/patience.ts'
import type {SharedConnections} from '../../client/shared-connections.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import type {DiscoveryOptions} from '../../discovery/plan.ts'
import type {DiscoverySettings} from '../../discovery/settings.ts'
import {elsewhere, TrustError} from '../../errors.ts'
import type {Phase} from '../../phases.ts'
import type {KeyPair} from '../../pki/keys.ts'
import type {Clock} from '../../runtime.ts'
import {
  type BootstrapCredential,
  kubeconfigCredential,
  tokenCredential,
} from '../bootstrap-credential.ts'
import {isOwnCertificate} from '../client-certificate.ts'
import {readClusterInfo} from '../cluster-info-store.ts'
import {CredentialStore, type StoredCredential} from '../credential-store.ts'
import {nodeRecord} from '../node-files.ts'
import type {NodeLock} from '../node-lock.ts'
import type {JoinPhaseName} from './names.ts'

/** What the user asked for. */
export interface JoinSettings {
  /** The folder of the node. */
  dir: string
  /** The folder of its certificates and keys, if it is not the one that `findCertDir` finds. */
  certDir?: string | undefined
  nodeName: string
  discovery: DiscoveryOptions
  /** The token to authenticate with, if there is one. */
  token?: string | undefined
  /** A kubeconfig with another credential than a token, which also says which cluster to trust. */
  bootstrapKubeconfig?: string | undefined
  /** Milliseconds for the whole command: it then counts instead of the other two. */
  timeout?: number | undefined
  /** For how many milliseconds discovery retries, and each later step while the cluster is away. */
  discoveryTimeout?: number | undefined
  /** For how many milliseconds to wait for the certificate. */
  certificateTimeout?: number | undefined
  /** Names of checks that only warn, in lower case; `all` of them. */
  ignoredChecks?: readonly string[] | undefined
}

/** What the phases of `join` work with. */
export interface JoinContext {
  settings: JoinSettings
  clock: Clock
  /** Prints a line about what was done. */
  tell: (line: string) => void
  /** Prints what the command is waiting for. */
  note: (line: string) => void
  warn: (line: string) => void
  /** Standard input, for `--discovery-file -`. */
  input?: DiscoverySettings['input']
  environment?: DiscoverySettings['environment']
  /** How long to wait for the cluster; each wait is shown. */
  patience: Patience
  /** Discovery's verified connection, which the request for the certificate goes through too. */
  connections: SharedConnections
  /** Keeps other runs out of the folder; held from the first write on. */
  lock: NodeLock
  /** The folder of the node's certificates and keys. */
  certDir: string
  /** The cluster, once it is found. */
  info?: TrustedClusterInfo
  /** A new key, which may have been generated ahead of time. */
  freshKeys: () => Promise<KeyPair>
}

export type JoinPhase = Phase<JoinContext, JoinPhaseName>

export const storeOf = ({certDir, settings}: JoinContext): CredentialStore =>
  new CredentialStore(certDir, {record: nodeRecord(settings.dir)})

/** The cluster that this run has found, or that an earlier one has stored. */
export async function requireClusterInfo(context: JoinContext): Promise<TrustedClusterInfo> {
  const info = context.info ?? (await readClusterInfo(context.settings.dir))
  if (info) return (context.info = info)
  throw new TrustError('NOT_FOUND', `${context.settings.dir} does not say which cluster to trust`, {
    hints: ['run "trustadm join phase discovery" first, or "trustadm join" as a whole'],
  })
}

/** The current certificate, if it is still valid. One of another node is refused: the folder belongs to that node. */
export async function findValid(context: JoinContext): Promise<StoredCredential | undefined> {
  const {nodeName} = context.settings
  const {certDir} = context
  const current = await storeOf(context).read()
  if (!current) return undefined
  const {certificate} = current
  if (!isOwnCertificate(certificate, nodeName)) {
    throw new TrustError(
      'CONFLICT',
      `${certDir} contains the certificate of "${certificate.subject.commonName}", not of the node "${nodeName}"`,
      {
        hints: [
          'use another folder with --dir',
          'or, if that node is not needed any more, run "trustadm node leave" first',
        ],
      },
    )
  }
  const now = context.clock.now()
  return certificate.notBefore <= now && certificate.notAfter > now ? current : undefined
}

export async function requireValid(context: JoinContext): Promise<StoredCredential> {
  const current = await findValid(context)
  if (current) return current
  throw new TrustError('NOT_FOUND', `there is no valid certificate in ${context.certDir}`, {
    hints: ['run "trustadm join phase tls-bootstrap" first, or "trustadm join" as a whole'],
  })
}

/** How the cluster is found. */
export const discoveryOf = ({discovery, bootstrapKubeconfig}: JoinSettings): DiscoveryOptions => ({
  ...discovery,
  kubeconfig: bootstrapKubeconfig,
})

/** What to authenticate with before the node has its certificate; undefined if nothing was given. */
export async function findCredential({
  settings: {bootstrapKubeconfig, token},
  clock,
}: Pick<JoinContext, 'settings' | 'clock'>): Promise<BootstrapCredential | undefined> {
  if (bootstrapKubeconfig !== undefined) {
    return await kubeconfigCredential(bootstrapKubeconfig, clock)
  }
  return token === undefined ? undefined : tokenCredential(token)
}

export async function requireCredential(context: JoinContext): Promise<BootstrapCredential> {
  const credential = await findCredential(context)
  if (credential) return credential
  throw new TrustError('USAGE', 'there is no token to authenticate with', {
    hints: [
      'add --tls-bootstrap-token, --token-file or $TRUSTADM_TOKEN; or use --bootstrap-kubeconfig',
      elsewhere('to create a token, run "trustadm token create" on the control plane'),
    ],
  })
}
