import type {Status, StatusDetails} from '../api/meta.ts'
import {elsewhere, type ErrorCode, TrustError, type Hint} from '../errors.ts'
import {printable} from './printable.ts'

const CODE_BY_REASON: Record<string, ErrorCode> = {
  NotFound: 'NOT_FOUND',
  AlreadyExists: 'ALREADY_EXISTS',
  Conflict: 'CONFLICT',
  Forbidden: 'FORBIDDEN',
  Unauthorized: 'UNAUTHORIZED',
  Invalid: 'INVALID',
  Expired: 'EXPIRED',
  Gone: 'EXPIRED',
  TooManyRequests: 'TOO_MANY_REQUESTS',
  BadRequest: 'BAD_REQUEST',
  Timeout: 'TIMED_OUT',
  ServerTimeout: 'TIMED_OUT',
  InternalError: 'SERVER_ERROR',
  ServiceUnavailable: 'SERVER_ERROR',
}

const CODE_BY_STATUS: Record<number, ErrorCode> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  410: 'EXPIRED',
  422: 'INVALID',
  429: 'TOO_MANY_REQUESTS',
  504: 'TIMED_OUT',
}

const HINTS: Partial<Record<ErrorCode, string[]>> = {
  UNAUTHORIZED: [
    'the server does not accept the credentials in the kubeconfig: they are unknown, expired or revoked',
    'get a new kubeconfig from the control plane',
  ],
  CONFLICT: ['it was changed in the meantime: read it again and repeat the change'],
  EXPIRED: ['the server no longer has that version: read the current state again'],
  TOO_MANY_REQUESTS: ['the server is busy: try again later'],
  SERVER_ERROR: ['check the logs of the API server'],
  TIMED_OUT: ['check the API server and its store, and try again'],
}

/** The error for a `Status` object that reports a failure. */
export function fromStatus(status: Status, httpStatus = status.code ?? 0): TrustError {
  const code = CODE_BY_REASON[status.reason ?? ''] ?? codeFor(httpStatus)
  const message = printable(status.message ?? `the server returned ${httpStatus}`)
  return new TrustError(code, message, {
    hints: code === 'FORBIDDEN' ? forbiddenHints(message, status.details) : (HINTS[code] ?? []),
    facts: {status: httpStatus, reason: status.reason, details: status.details},
  })
}

/** The error for a response that is not a `Status`: another kind of server, a proxy, or a path that is not served. */
export function fromForeignAnswer(httpStatus: number, server = 'the server'): TrustError {
  const facts = {status: httpStatus, isForeign: true}
  if (httpStatus >= 300 && httpStatus < 400) {
    return new TrustError('SERVER_ERROR', `${server} returned a redirect (${httpStatus})`, {
      facts,
      hints: ['redirects are never followed: use the final address in the kubeconfig'],
    })
  }
  const code = httpStatus < 300 ? 'SERVER_ERROR' : codeFor(httpStatus)
  return new TrustError(
    code,
    `${server} returned ${httpStatus}, but not in the form of a Kubernetes API server`,
    {
      facts,
      hints: [
        'check that the address is that of a Kubernetes API server, and that no proxy answers in its place',
      ],
    },
  )
}

/** The error for a path that responds in plain text, as the health checks do. */
export function fromText(httpStatus: number, path: string, text: string): TrustError {
  if (httpStatus >= 300 && httpStatus < 400) return fromForeignAnswer(httpStatus)
  return new TrustError(codeFor(httpStatus), `${path} returned ${httpStatus}: ${printable(text)}`, {
    facts: {status: httpStatus, text: printable(text)},
  })
}

/** Whether something answered that is not an API server, or a proxy did in its place. */
export const isForeignAnswer = (error: unknown): boolean =>
  error instanceof TrustError && error.facts.isForeign === true

/** Whether this one object is missing, not the path or the resource. */
export function isMissingObject(error: unknown): boolean {
  if (!(error instanceof TrustError) || error.code !== 'NOT_FOUND') return false
  const details = error.facts.details as Status['details']
  return details?.name !== undefined
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status'
}

function codeFor(httpStatus: number): ErrorCode {
  return CODE_BY_STATUS[httpStatus] ?? (httpStatus >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST')
}

/** What Kubernetes says about a request for a group that no right would help with. */
const GROUP_REFUSED = 'system:masters group is not allowed'
const GROUP_HINTS = [
  'nobody may request this group: request another one, and bind it to the ClusterRole cluster-admin',
  elsewhere(
    'or, on the machine of the control plane, run "trustadm kubeconfig user" with --org system:masters',
  ),
]

const forbiddenHints = (message: string, details: StatusDetails | undefined): Hint[] =>
  message.endsWith(GROUP_REFUSED) ? GROUP_HINTS : permissionHints(details)

/** Servers give the verb, the subresource and a path only in their message, which is shown as it is. */
function permissionHints({kind, group}: StatusDetails = {}): string[] {
  const use = 'use the kubeconfig of an administrator'
  if (!kind) return [`${use}, or grant this user the permission`]
  const resource = printable(group ? `${kind}.${group}` : kind)
  return [`${use}, or grant this user a role that allows it on "${resource}"`]
}
