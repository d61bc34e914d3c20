import type {Patience} from '../../client/patience.ts'
import {shellWord} from '../../client/printable.ts'
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
import {findHeldPair, type HeldPair} from '../certificate-manager/held-pair.ts'
import {CredentialStore} from '../credential-store.ts'
import {readKubeletConf} from '../kubelet-conf.ts'
import {nodeRecord, type NodeRecord} from '../node-files.ts'
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
  /** Whether a kubelet has joined from the folder before, without trustadm: then its files stay its own, and it registers the Node. */
  isKubelets: boolean
  /** The cluster, once it is found. */
  info?: TrustedClusterInfo
  /** A new key, which may have been generated ahead of time. */
  freshKeys: () => Promise<KeyPair>
}

export type JoinPhase = Phase<JoinContext, JoinPhaseName>

export const recordOf = ({isKubelets, settings}: JoinContext): NodeRecord | undefined =>
  isKubelets ? undefined : nodeRecord(settings.dir)

export const storeOf = (context: JoinContext): CredentialStore =>
  new CredentialStore(context.certDir, {record: recordOf(context)})

/** The cluster that this run has found, or that an earlier one has stored. */
export async function requireClusterInfo(context: JoinContext): Promise<TrustedClusterInfo> {
  const {dir} = context.settings
  const info =
    context.info ??
    (await readClusterInfo(dir)) ??
    (context.isKubelets ? await (await readKubeletConf(dir))?.cluster() : undefined)
  if (info) return (context.info = info)
  throw new TrustError('NOT_FOUND', `${context.settings.dir} does not say which cluster to trust`, {
    hints: ['run "trustadm join phase discovery" first, or "trustadm join" as a whole'],
  })
}

/** The pair of this node in its folder, or in its kubelet.conf. One of another node is refused: the folder belongs to that node. */
async function findHeld(context: JoinContext): Promise<HeldPair | undefined> {
  const {nodeName, dir} = context.settings
  const {certDir, clock} = context
  const held = await findHeldPair({dir, store: storeOf(context)}, clock.now())
  if (!held) return undefined
  const {certificate, from, file} = held
  if (!isOwnCertificate(certificate, nodeName)) {
    throw new TrustError(
      'CONFLICT',
      `${from === 'link' ? certDir : file} contains the certificate of "${certificate.subject.commonName}", not of the node "${nodeName}"`,
      {
        hints: [
          'use another folder with --dir',
          context.isKubelets
            ? `or --node-name ${shellWord(held.nodeName)}, if this machine is that node`
            : 'or, if that node is not needed any more, run "trustadm node leave" first',
        ],
      },
    )
  }
  return held
}

/** That pair, if it is still valid. */
export async function findValid(context: JoinContext): Promise<HeldPair | undefined> {
  const held = await findHeld(context)
  const now = context.clock.now()
  const {notBefore, notAfter} = held?.certificate ?? {}
  return notBefore && notAfter && notBefore <= now && notAfter > now ? held : undefined
}

export async function requireValid(context: JoinContext): Promise<HeldPair> {
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
