import {sleep} from '../../runtime.ts'
import {StatusError} from '../kernel/status.ts'
import {parseResourceVersion} from './options.ts'
import type {Registry} from './registry.ts'

/** How long a read waits for a revision that has not been reached, as kube-apiserver's cache does. */
const LONGEST_WAIT = 3000
const REFUSED_WAIT = 1000

/** The parts of a request that limit how long it waits. */
export interface Waiting {
  timeout?: number | undefined
  signal?: AbortSignal
}

/** Waits until memory has reached a revision, for as long as the caller and Kubernetes' own limit allow. */
export async function reach(
  registry: Registry,
  wanted: number,
  {timeout = LONGEST_WAIT, signal}: Waiting,
): Promise<void> {
  if (wanted <= registry.revision) return
  if (await registry.reached.wait(wanted, Math.min(LONGEST_WAIT, timeout), signal)) return
  if (timeout < LONGEST_WAIT) throw requestTimedOut()
  throw new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${wanted}, current: ${registry.revision}`,
    {
      causes: [{reason: 'ResourceVersionTooLarge', message: 'Too large resource version'}],
      retryAfterSeconds: 1,
    },
    {'Retry-After': '1'},
  )
}

/** Waits until memory has every write that any server has acknowledged before this call, but not longer than memory may be old. */
export const catchUp = (registry: Registry, waiting: Waiting = {}): Promise<void> =>
  learn(registry, (answer) => registry.age.within(answer), waiting)

/** The same for as long as the store takes: so a memory that was too old becomes current again. */
export const askStore = (registry: Registry): Promise<void> =>
  learn(registry, (answer) => answer, {})

async function learn(
  registry: Registry,
  limit: (answer: Promise<number>) => Promise<number>,
  waiting: Waiting,
): Promise<void> {
  const asked = registry.age.now()
  await reach(registry, await limit(registry.storage.revision()), waiting)
  registry.age.confirm(asked)
}

/**
 * Whether memory has reached a later revision than this one, with all that any server had acknowledged before this call. Gives up soon:
 * whoever is refused need not wait for a store that does not respond.
 */
export async function hasNews(registry: Registry, since: number): Promise<boolean> {
  const waiting = new AbortController()
  const ignore = () => undefined
  const tooLong = sleep(REFUSED_WAIT, waiting.signal).catch(ignore)
  await Promise.race([catchUp(registry).catch(ignore), tooLong])
  waiting.abort()
  return registry.revision > since
}

/**
 * Waits until memory is as current as a read requires: fully without a resourceVersion, else at least at that revision; 0
 * accepts any state.
 */
export async function reachRead(
  registry: Registry,
  resourceVersion: string,
  waiting: Waiting,
  fail: (message: string) => StatusError,
): Promise<number> {
  const wanted = parseResourceVersion(resourceVersion, fail)
  if (resourceVersion === '') await catchUp(registry, waiting)
  else await reach(registry, wanted, waiting)
  return wanted
}

/** The caller's own ?timeout has passed. A real server sends this response as text, without a kind. */
function requestTimedOut(): StatusError {
  const error = new StatusError(
    504,
    'Timeout',
    'Timeout: request did not complete within the allotted timeout',
    {},
    {'Content-Type': 'text/plain; charset=utf-8'},
  )
  Object.assign(error.status, {kind: undefined, apiVersion: undefined})
  return error
}
