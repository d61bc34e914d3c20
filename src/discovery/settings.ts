import type {Environment} from '../client/proxy-rules.ts'
import {sleep, systemClock, type Clock} from '../runtime.ts'

/** What discovery waits for just now. */
export interface Waiting {
  /** The address, as an https:// URL. */
  server: string
  /** The code of the failure that waiting may heal. */
  code: string
  /** What is wrong so far, a sentence. */
  message: string
}

/** What discovery needs of the machine it runs on; tests put their own in. */
export interface DiscoverySettings {
  /** For how many milliseconds what waiting may heal is tried again. One read may take no longer either. */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  /** Called when it begins to wait, and again when it waits for something else. */
  onWait?: ((waiting: Waiting) => void) | undefined
  /** Standard input, for `--discovery-file -`. */
  input?: AsyncIterable<Uint8Array | string> | undefined
  clock?: Clock | undefined
  sleep?: typeof sleep | undefined
  environment?: Environment | undefined
}

export interface DiscoveryContext {
  clock: Clock
  sleep: typeof sleep
  retryFor: number
  /** For a server that says it is busy: many machines may be joining at once, and all of them get their turn. */
  retryBusyFor: number
  readTimeout: number
  signal: AbortSignal | undefined
  onWait: (waiting: Waiting) => void
  environment: Environment
}

/** Enough for a signer or a restart to catch up; whoever boots machines out of order asks for more by `--timeout`. */
const RETRY_FOR = 5000
const RETRY_BUSY_FOR = 60_000
const LONGEST_READ = 10_000

export function discoveryContext(settings: DiscoverySettings): DiscoveryContext {
  const {timeout} = settings
  // No time at all means: once, and no more.
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
  }
}
