import {Backoff} from '../client/backoff.ts'
import {type ErrorCode, EXIT, hasCode, messageOf, TrustError} from '../errors.ts'
import type {DiscoveryContext} from './settings.ts'

export interface Failure {
  server: string
  error: unknown
}

interface Success<T> {
  server: string
  value: T
  /** The servers that had failed by then. */
  failures: Failure[]
}

/** Calls all servers at once. The first success wins, and the other calls are aborted. */
export async function firstGood<T>(
  servers: readonly string[],
  ask: (server: string, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<Success<T>> {
  signal?.throwIfAborted()
  const losers = new AbortController()
  const combined = AbortSignal.any([losers.signal, ...(signal ? [signal] : [])])
  const failures: Failure[] = []
  try {
    return await Promise.any(
      servers.map(async (server) => {
        try {
          const value = await ask(server, combined)
          return {server, value, failures: [...failures]}
        } catch (error) {
          failures.push({server, error})
          throw error
        }
      }),
    )
  } catch {
    signal?.throwIfAborted()
    throw worstOf(failures)
  } finally {
    losers.abort()
  }
}

/** One error for all: an untrusted server matters more than an unreachable one. */
function worstOf(failures: readonly Failure[]): unknown {
  const [worst, ...others] = [...failures].sort((a, b) => rank(a.error) - rank(b.error))
  if (!(worst?.error instanceof TrustError) || others.length === 0) return worst?.error
  const {code, message, hints, facts} = worst.error
  return new TrustError(code, message, {
    cause: worst.error,
    hints: [...hints, ...others.map(named)],
    facts: {
      ...facts,
      servers: failures.map(({server, error}) => ({
        server,
        code: error instanceof TrustError ? error.code : 'INTERNAL',
      })),
    },
  })
}

/** A message whose facts have the server names it already. */
function named({server, error}: Failure): string {
  const isNamed = error instanceof TrustError && error.facts.server === server
  return isNamed ? error.message : `${server}: ${messageOf(error)}`
}

function rank(error: unknown): number {
  if (!(error instanceof TrustError)) return 0
  if (error.oclif.exit === EXIT.notTrusted) return 1
  return error.code === 'SERVER_UNREACHABLE' || error.code === 'TIMED_OUT' ? 3 : 2
}

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

/** How long to wait for a response, in milliseconds, before showing the user what is missing. */
const SLOW = 2000

/** Whether a failure may be temporary. kubeadm retries all of them, so that a mistyped token looks like a slow server. */
export function isTemporary(error: unknown): error is TrustError {
  if (!(error instanceof TrustError) || !TEMPORARY.includes(error.code)) return false
  const {systemCode, proxyStatus, status} = error.facts
  const refusedByProxy = typeof proxyStatus === 'number' && proxyStatus < 500
  // A server that allows no anonymous requests at all will not start to.
  return systemCode !== 'ENOTFOUND' && status !== 401 && !refusedByProxy
}

/** Retries temporary failures, and reports what it waits for. In the end, throws the failure as it is. */
export async function withRetry<T>(
  server: string,
  attempt: () => Promise<T>,
  {clock, sleep, retryFor, retryBusyFor, signal, onWait}: DiscoveryContext,
): Promise<T> {
  const start = clock.now().getTime()
  const backoff = new Backoff({base: 100, max: 2000})
  let told = ''
  const tell = (code: ErrorCode, message: string) => {
    if (message !== told) onWait({server, code, message})
    told = message
  }
  for (;;) {
    const slow = setTimeout(() => {
      if (told === '') tell('TIMED_OUT', `no response from ${server} yet`)
    }, SLOW)
    try {
      return await attempt().finally(() => clearTimeout(slow))
    } catch (error) {
      const longest = hasCode(error, 'TOO_MANY_REQUESTS') ? retryBusyFor : retryFor
      const left = start + longest - clock.now().getTime()
      if (signal?.aborted || !isTemporary(error) || left <= 0) throw error
      const {code, message} = error
      tell(code, message)
      await sleep(Math.min(backoff.next(), left), signal)
    }
  }
}
