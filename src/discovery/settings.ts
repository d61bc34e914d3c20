import {patienceFor, type Patience, type Waiting} from '../client/patience.ts'
import type {Environment} from '../client/proxy-rules.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import type {sleep, Clock} from '../runtime.ts'

/** What discovery needs from the machine it runs on; tests pass their own. */
export interface DiscoverySettings {
  /** How many milliseconds to retry temporary failures: with what is being read then, discovery takes no longer. 0 tries only once. */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  /** Called when it starts to wait, and again when the reason changes. */
  onWait?: ((waiting: Waiting) => void) | undefined
  /** Standard input, for `--discovery-file -`. */
  input?: AsyncIterable<Uint8Array | string> | undefined
  clock?: Clock | undefined
  sleep?: typeof sleep | undefined
  environment?: Environment | undefined
  /** Where a verified connection is left for what comes next. */
  connections?: SharedConnections | undefined
}

export interface DiscoveryContext extends Patience {
  readTimeout: number
  environment: Environment
  connections: SharedConnections | undefined
}

const LONGEST_READ = 10_000

export const discoveryContext = (settings: DiscoverySettings): DiscoveryContext => ({
  ...patienceFor(settings),
  readTimeout: settings.timeout ? Math.min(LONGEST_READ, settings.timeout) : LONGEST_READ,
  environment: settings.environment ?? process.env,
  connections: settings.connections,
})
