import {isForeignAnswer} from '../client/status-errors.ts'
import {hasCode, TrustError} from '../errors.ts'

/** Nothing answered, or nothing that this node trusts, or a server that cannot do its work. */
const UNHEALTHY = [
  'SERVER_UNREACHABLE',
  'SERVER_NOT_TRUSTED',
  'SERVER_NOT_TLS',
  'TLS_FAILED',
  'SERVER_ERROR',
  'TIMED_OUT',
  'ANSWER_TOO_LARGE',
] as const

/** What became of a request that the server took. */
const OUTCOMES = [
  'CERTIFICATE_DENIED',
  'CERTIFICATE_FAILED',
  'CERTIFICATE_INVALID',
  'CERTIFICATE_PENDING',
  'CERTIFICATE_REQUEST_DELETED',
] as const

/**
 * Whether a failure shows a healthy API server; undefined if it says nothing about the server. As the kubelet's certificate manager:
 * a refusal in the form of the API is a sign of health, and so is every 401, which proxies also send for the server. Any other answer
 * that is not in that form comes from something else at the address.
 */
export function serverHealth(error: unknown): boolean | undefined {
  if (hasCode(error, 'UNAUTHORIZED', ...OUTCOMES)) return true
  if (hasCode(error, ...UNHEALTHY) || isForeignAnswer(error)) return false
  return error instanceof TrustError && error.facts.status !== undefined ? true : undefined
}
