import {hasCode, isDiskFull, type TrustError} from '../errors.ts'
import type {ApiRequest, ApiResponse} from './kernel/api-request.ts'
import {internalError, StatusError, tooLarge, unavailable} from './kernel/status.ts'

/** Called with internal errors; callers learn only that there was one. */
export type TellInternalError = (error: unknown, request: ApiRequest) => void

/** What a caller gets if its request has failed. */
export function failureResponse(
  error: unknown,
  request: ApiRequest,
  tell: TellInternalError,
): ApiResponse {
  const known = error instanceof StatusError
  const {status, headers, code} = known ? error : unexpected(error, request, tell)
  return {
    status: code,
    headers: {'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private', ...headers},
    body: JSON.stringify(status),
  }
}

/** Internal errors go to the server's log, never to the caller. */
function unexpected(error: unknown, request: ApiRequest, tell: TellInternalError): StatusError {
  // A caller that has left needs no report, and a stopping server is not an error.
  if (request.signal.aborted) return unavailable('the request was cut short')
  // The store logs it once, not for each request.
  if (hasCode(error, 'STORE_WRITE_FAILED')) return notStored(error)
  if (hasCode(error, 'STORE_UNREACHABLE')) return unavailable('the store does not respond')
  // The server is stopping.
  if (hasCode(error, 'STORE_CLOSED')) return unavailable('the store is closed')
  if (hasCode(error, 'STORE_UNCERTAIN')) return notConfirmed()
  if (hasCode(error, 'STORE_VALUE_TOO_LARGE')) return tooLarge(error.message)
  tell(error, request)
  return internalError('the server could not complete the request; its log says why')
}

/** 500, as Kubernetes returns while etcd has no space. */
const notStored = (error: TrustError): StatusError =>
  internalError(
    [error.message, ...error.suggestions].join('; '),
    isDiskFull(error) ? 'ENOSPC' : undefined,
  )

/** 504, as Kubernetes returns if etcd does not respond in time. */
const notConfirmed = (): StatusError =>
  new StatusError(
    504,
    'Timeout',
    'Timeout: the store did not confirm the write, which may have been done',
    {},
  )
