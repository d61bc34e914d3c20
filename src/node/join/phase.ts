import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import type {DiscoveryOptions} from '../../discovery/plan.ts'
import type {DiscoverySettings} from '../../discovery/surroundings.ts'
import type {KeyPair} from '../../pki/keys.ts'
import type {Clock} from '../../runtime.ts'
import type {Turn} from '../node-lock.ts'
import type {JoinPhaseName} from './names.ts'

/** What a user has said about a join. */
export interface JoinSettings {
  /** The folder of the node. */
  dir: string
  nodeName: string
  discovery: DiscoveryOptions
  /** The token to authenticate with; absent where none is known. */
  token?: string | undefined
  /** How many milliseconds discovery tries again what waiting may heal. */
  discoveryTimeout?: number | undefined
  /** How many milliseconds the certificate is waited for. */
  certificateTimeout?: number | undefined
  /** Names of checks that only warn, in lower case; `all` of them. */
  ignoredChecks?: readonly string[] | undefined
}

/** What a phase has to work with. */
export interface JoinContext {
  settings: JoinSettings
  clock: Clock
  /** Says what was done, in a line. */
  tell: (line: string) => void
  /** Says what is waited for: whoever looks on should know. */
  note: (line: string) => void
  warn: (line: string) => void
  /** Standard input, for `--discovery-file -`. */
  input?: DiscoverySettings['input']
  environment?: DiscoverySettings['environment']
  /** Keeps other runs out of the folder, from the first write on. */
  turn: Turn
  /** The cluster, once it is found. */
  info?: TrustedClusterInfo
  /** A new key, which may be in the making since before anybody needs it. */
  freshKeys: () => Promise<KeyPair>
}

/** One step of `join`. Each can be repeated, and run alone on what the ones before have left. */
export interface JoinPhase {
  name: JoinPhaseName
  summary: string
  /** What `run` would change, for `--dry-run`. Changes nothing. */
  plan: (context: JoinContext) => Promise<string[]>
  run: (context: JoinContext) => Promise<void>
}
