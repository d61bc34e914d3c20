import {sleep} from '../../runtime.ts'
import {StatusError} from '../kernel/status.ts'
import {parseResourceVersion, requestTimeout} from './options.ts'
import type {Registry} from './registry.ts'

/** How long a read waits for a revision that has not been reached, as kube-apiserver's cache does. */
const TOO_LARGE_PATIENCE = 3000

/** Waits until memory has reached a revision, for as long as the caller and Kubernetes' own patience allow. */
export async function reach(
  registry: Registry,
  wanted: number,
  request: {timeout: number | undefined; signal: AbortSignal},
): Promise<void> {
  if (wanted <= registry.revision) return
  const patience = Math.min(TOO_LARGE_PATIENCE, request.timeout ?? TOO_LARGE_PATIENCE)
  for (let waited = 0; waited < patience && wanted > registry.revision; waited += 50)
    await sleep(50, request.signal)
  if (wanted <= registry.revision) return
  if (patience < TOO_LARGE_PATIENCE) throw requestTimedOut()
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

/** A read that names a resourceVersion wants nothing older. */
export async function reachRead(
  registry: Registry,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<void> {
  const wanted = parseResourceVersion(
    query.get('resourceVersion') ?? '',
    (message) => new StatusError(500, undefined, message),
  )
  if (wanted > registry.revision)
    await reach(registry, wanted, {timeout: requestTimeout(query), signal})
}

/** The caller's own ?timeout has passed. The real server sends this one without its kind, as text. */
export function requestTimedOut(): StatusError {
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
