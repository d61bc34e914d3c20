import {EXIT, messageOf, TrustError} from '../errors.ts'

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
