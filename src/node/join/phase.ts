import type {SharedConnections} from '../../client/shared-connections.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import type {DiscoveryOptions} from '../../discovery/plan.ts'
import type {DiscoverySettings} from '../../discovery/settings.ts'
import type {Phase} from '../../phases.ts'
import type {KeyPair} from '../../pki/keys.ts'
import type {Clock} from '../../runtime.ts'
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
  /** For how many milliseconds discovery retries. */
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
