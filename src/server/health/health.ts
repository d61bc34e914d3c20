import {setTimeout as wait} from 'node:timers/promises'

import {messageOf} from '../../errors.ts'
import type {ApiRequest, ApiResponse} from '../kernel/api-request.ts'

type HealthEndpoint = 'healthz' | 'livez' | 'readyz'

/** One named check. It throws if something does not work. */
export interface HealthCheck {
  name: string
  check: () => Promise<void> | void
  /** The paths that include it; all if absent. */
  endpoints?: HealthEndpoint[]
  /** If true, a failure is shown, but the endpoint that includes it still passes. */
  isAdvisory?: boolean
}

/** Responds to a GET of a health path; undefined for every other path. */
export interface Health {
  respond: (request: Pick<ApiRequest, 'path' | 'query'>) => Promise<ApiResponse> | undefined
  /** From now on the server is not ready; it stays alive. */
  beginShutdown: () => void
}

const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache, private',
}
const PATH = /^\/(healthz|livez|readyz)(?:\/(.*))?$/
const CHECK_TIMEOUT = 5000

const answer = (status: number, body: string): ApiResponse => ({status, headers: HEADERS, body})

/** A check that hangs has failed: a probe must get a response. */
async function run({check}: HealthCheck, timeout: number): Promise<string | undefined> {
  const timer = new AbortController()
  const late = wait(timeout, 'timed out', {signal: timer.signal}).catch(() => undefined)
  const done = (async () => {
    try {
      await check()
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  })()
  const failure = await Promise.race([done, late])
  timer.abort()
  return failure
}

interface Outcome {
  name: string
  isAdvisory: boolean
  excluded: boolean
  failure: string | undefined
}

/** Callers without access to the single checks learn that one failed, not why. */
function line({name, excluded, failure}: Outcome): string {
  if (excluded) return `[+]${name} excluded: ok\n`
  return failure === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`
}

function unmatched(excluded: string[], checks: HealthCheck[]): string {
  const unknown = [...new Set(excluded)]
    .filter((name) => !checks.some((check) => check.name === name))
    .sort()
  return unknown.length === 0
    ? ''
    : `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(',')}\n`
}

async function overall(
  endpoint: HealthEndpoint,
  checks: HealthCheck[],
  query: URLSearchParams,
  timeout: number,
): Promise<ApiResponse> {
  const excluded = query.getAll('exclude')
  const outcomes = await Promise.all(
    checks.map(async (check): Promise<Outcome> => {
      const skip = excluded.includes(check.name)
      const failure = skip ? undefined : await run(check, timeout)
      return {name: check.name, isAdvisory: check.isAdvisory === true, excluded: skip, failure}
    }),
  )
  const details = outcomes.map(line).join('') + unmatched(excluded, checks)
  if (outcomes.some(({isAdvisory, failure}) => !isAdvisory && failure !== undefined)) {
    return answer(500, `${details}${endpoint} check failed\n`)
  }
  return answer(200, query.has('verbose') ? `${details}${endpoint} check passed\n` : 'ok')
}

async function single(check: HealthCheck, timeout: number): Promise<ApiResponse> {
  const failure = await run(check, timeout)
  return failure === undefined
    ? answer(200, 'ok')
    : answer(500, `internal server error: ${failure}\n`)
}

/** Always succeeds: any response shows that the server runs. */
const PING: HealthCheck = {name: 'ping', check: () => undefined}

/** `/healthz`, `/livez` and `/readyz`, with `?verbose`, `?exclude=` and one path for each check, in the words of Kubernetes. */
export function createHealth(
  checks: HealthCheck[],
  {timeout = CHECK_TIMEOUT}: {timeout?: number} = {},
): Health {
  let shuttingDown = false
  const shutdown: HealthCheck = {
    name: 'shutdown',
    endpoints: ['readyz'],
    check: () => {
      if (shuttingDown) throw new Error('process is shutting down')
    },
  }
  const all = [PING, ...checks, shutdown]

  return {
    beginShutdown: () => {
      shuttingDown = true
    },
    respond: ({path, query}) => {
      const [, endpoint, name = ''] = PATH.exec(path) ?? []
      if (endpoint !== 'healthz' && endpoint !== 'livez' && endpoint !== 'readyz') return undefined
      const counted = all.filter(({endpoints = [endpoint]}) => endpoints.includes(endpoint))
      if (name === '') return overall(endpoint, counted, query, timeout)
      const check = counted.find((one) => one.name === name)
      return check && single(check, timeout)
    },
  }
}
