import type {Environment} from '../client/proxy-rules.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import {sleep, systemClock, type Clock} from '../runtime.ts'

/** What discovery is waiting for. */
export interface Waiting {
  /** The address, as an https:// URL. */
  server: string
  /** The code of the temporary failure. */
  code: string
  /** The problem so far, as a sentence. */
  message: string
}

/** What discovery needs from the machine it runs on; tests pass their own. */
export interface DiscoverySettings {
  /** How many milliseconds to retry temporary failures. One read takes no longer either. */
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

export interface DiscoveryContext {
  clock: Clock
  sleep: typeof sleep
  retryFor: number
  /** For a busy server: if many machines join at once, each of them gets its turn. */
  retryBusyFor: number
  readTimeout: number
  signal: AbortSignal | undefined
  onWait: (waiting: Waiting) => void
  environment: Environment
  connections: SharedConnections | undefined
}

/** Enough for a signer or a restart. To boot machines before the control plane, use `--timeout`. */
const RETRY_FOR = 5000
const RETRY_BUSY_FOR = 60_000
const LONGEST_READ = 10_000

export function discoveryContext(settings: DiscoverySettings): DiscoveryContext {
  const {timeout} = settings
  // A timeout of 0 means: try only once.
  const longest = timeout === 0 ? undefined : timeout
  return {
    clock: settings.clock ?? systemClock,
    sleep: settings.sleep ?? sleep,
    retryFor: timeout ?? RETRY_FOR,
    retryBusyFor: timeout ?? RETRY_BUSY_FOR,
    readTimeout: Math.min(LONGEST_READ, longest ?? LONGEST_READ),
    signal: settings.signal,
    onWait: settings.onWait ?? (() => undefined),
    environment: settings.environment ?? process.env,
    connections: settings.connections,
  }
}
