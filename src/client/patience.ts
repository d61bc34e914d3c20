import {type ErrorCode, hasCode, TrustError} from '../errors.ts'
import {sleep, systemClock, type Clock} from '../runtime.ts'
import {Backoff} from './backoff.ts'
import {Cancellation, untilAborted} from './cancellation.ts'

/** What a command is waiting for. */
export interface Waiting {
  /** The address, as an https:// URL. */
  server: string
  /** The code of the temporary failure. */
  code: string
  /** The problem so far, as a sentence. */
  message: string
}

/** How long a command waits for a server that is starting, busy or away for a moment, and where it says so. */
export interface Patience {
  clock: Clock
  sleep: typeof sleep
  /** Milliseconds to repeat what fails. */
  retryFor: number
  /** For a busy server: if many machines join at once, each of them gets its turn. */
  retryBusyFor: number
  /** When the user's time for the whole command is over, by the clock: no request, retry or pause lasts longer. */
  deadline: number | undefined
  signal: AbortSignal | undefined
  /** Called when it starts to wait, and again when the reason changes. */
  onWait: (waiting: Waiting) => void
}

type PatienceOptions = {[Key in keyof Omit<Patience, 'deadline'>]?: Patience[Key] | undefined} & {
  /** The milliseconds that the user allows; 0 for a single attempt. */
  timeout?: number | undefined
}

/** Enough for a signer or a restart. To boot machines before the control plane, use `--timeout`. */
export const RETRY_FOR = 5000
export const RETRY_BUSY_FOR = 60_000

export function patienceFor({timeout, ...options}: PatienceOptions): Patience {
  const {clock = systemClock} = options
  return {
    clock,
    sleep: options.sleep ?? sleep,
    retryFor: options.retryFor ?? timeout ?? RETRY_FOR,
    retryBusyFor: options.retryBusyFor ?? timeout ?? RETRY_BUSY_FOR,
    deadline: timeout ? clock.now().getTime() + timeout : undefined,
    signal: options.signal,
    onWait: options.onWait ?? (() => undefined),
  }
}

/** What is left of the user's time, in milliseconds; undefined if there is no deadline. Not 0, which would mean no waiting. */
export const timeLeft = ({clock, deadline}: Patience): number | undefined =>
  deadline === undefined ? undefined : Math.max(1, deadline - clock.now().getTime())

/** Failures that may be temporary: a server that is starting, an init that is not complete, a signer that has not signed yet. */
const TEMPORARY: readonly ErrorCode[] = [
  'SERVER_UNREACHABLE',
  'SERVER_ERROR',
  'TIMED_OUT',
  'TOO_MANY_REQUESTS',
  'CLUSTER_INFO_MISSING',
  // The permission to read cluster-info is one of the last things that init creates.
  'CLUSTER_INFO_FORBIDDEN',
  'SIGNATURE_MISSING',
]

/** Whether a failure may be temporary. kubeadm retries all of them, so that a mistyped token looks like a slow server. */
export function isTemporary(error: unknown): error is TrustError {
  if (!(error instanceof TrustError)) return false
  const {systemCode, proxyStatus, status} = error.facts
  // A web server in front of one that starts; the file itself may appear a moment later.
  if (error.code === 'DISCOVERY_FILE_UNAVAILABLE')
    return typeof status === 'number' && ([404, 408, 429].includes(status) || status >= 500)
  if (!TEMPORARY.includes(error.code)) return false
  const refusedByProxy = typeof proxyStatus === 'number' && proxyStatus < 500
  // A server that allows no anonymous requests at all will not start to.
  return systemCode !== 'ENOTFOUND' && status !== 401 && !refusedByProxy
}

/** How long to wait for a response, in milliseconds, before showing the user what is missing. */
const SLOW = 2000

/**
 * Retries temporary failures, and reports what it waits for. In the end, throws the failure as it is. The signal of an attempt ends
 * it at the deadline. An attempt whose request has been answered, and that waits for something else, calls `answered`.
 */
export async function withRetry<T>(
  server: string,
  attempt: (signal: AbortSignal, answered: () => void) => Promise<T>,
  patience: Patience,
  isPassing: (error: unknown) => boolean = isTemporary,
): Promise<T> {
  const {clock, sleep, retryFor, retryBusyFor, deadline = Infinity, onWait} = patience
  const start = clock.now().getTime()
  const backoff = new Backoff({base: 100, max: 2000})
  let told = ''
  const tell = (code: ErrorCode, message: string) => {
    if (message !== told) onWait({server, code, message})
    told = message
  }
  let failure: TrustError | undefined
  const cancellation = new Cancellation(patience.signal)
  const {signal} = cancellation
  const left = timeLeft(patience)
  if (left !== undefined) cancellation.expireAfter(left, () => failure ?? noResponse(server))
  try {
    for (;;) {
      const slow = setTimeout(() => {
        if (told === '') tell('TIMED_OUT', `no response from ${server} yet`)
      }, SLOW)
      const answered = () => clearTimeout(slow)
      try {
        return await attempt(signal, answered).finally(answered)
      } catch (error) {
        const longest = hasCode(error, 'TOO_MANY_REQUESTS') ? retryBusyFor : retryFor
        const left = Math.min(deadline, start + longest) - clock.now().getTime()
        const isOver = signal.aborted || left <= 0
        if (isOver || !(error instanceof TrustError) || !isPassing(error)) throw error
        const {code, message, facts} = error
        failure = error
        tell(code, message)
        const asked = typeof facts.retryAfter === 'number' ? facts.retryAfter : 0
        await sleep(Math.min(Math.max(asked, backoff.next()), left), signal)
      }
    }
  } finally {
    cancellation.release()
  }
}

const noResponse = (server: string): TrustError =>
  new TrustError('TIMED_OUT', `${server} did not respond in time`, {
    facts: {server},
    hints: ['wait longer with --timeout'],
  })

/** Reads standard input to its end, which comes only when its writer lets go of it: not beyond the deadline. */
export async function inputInTime<T>(read: () => Promise<T>, patience: Patience): Promise<T> {
  const name = 'standard input'
  const slow = setTimeout(
    () => patience.onWait({server: name, code: 'TIMED_OUT', message: `${name} has not ended yet`}),
    SLOW,
  )
  const cancellation = new Cancellation(patience.signal)
  const left = timeLeft(patience)
  if (left !== undefined) cancellation.expireAfter(left, inputOpen)
  try {
    return await untilAborted(read(), cancellation.signal)
  } finally {
    clearTimeout(slow)
    cancellation.release()
  }
}

const inputOpen = (): TrustError =>
  new TrustError('TIMED_OUT', 'standard input was not closed in time', {
    hints: ['close the pipe after the last line, or wait longer with --timeout'],
  })
