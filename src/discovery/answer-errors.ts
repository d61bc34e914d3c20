import {printable} from '../client/printable.ts'
import {isStatus} from '../client/status-errors.ts'
import {TrustError, type ErrorCode} from '../errors.ts'

/** What is wrong with an answer that is not cluster-info. */
export function answerError(status: number, value: unknown, server: string): TrustError {
  if (status >= 300 && status < 400) return redirectRefused(status, server)
  // Load balancers answer so while the server behind them starts.
  if (status >= 500) return failure('SERVER_ERROR', `${server} answered ${status}`, status, BUSY)
  if (!isStatus(value)) {
    return failure(
      'NOT_KUBERNETES',
      `${server} answered ${status}, but not as a Kubernetes API server does`,
      status,
      ['check the address and the port, and that no proxy answers in its place'],
    )
  }
  if (status === 404) {
    return failure('CLUSTER_INFO_MISSING', `${server} has no cluster-info`, status, [
      'the control plane may not be done with its initialisation: --timeout waits longer for it',
      'run "trustadm init phase bootstrap-token" on the control plane where it was left out',
    ])
  }
  if (status === 401 || status === 403) {
    return failure(
      'CLUSTER_INFO_FORBIDDEN',
      `${server} does not show cluster-info to machines it does not know`,
      status,
      [
        'run "trustadm init phase bootstrap-token" on the control plane: it gives that right',
        'where strangers may read nothing on purpose, join with a --discovery-file',
      ],
    )
  }
  if (status === 429) {
    return failure('TOO_MANY_REQUESTS', `${server} asks to wait`, status, BUSY)
  }
  const said = printable(value.message ?? 'no reason given')
  return failure('BAD_REQUEST', `${server} answered ${status}: ${said}`, status, [])
}

export function redirectRefused(status: number, server: string): TrustError {
  return failure('REDIRECT_REFUSED', `${server} answered with a redirect (${status})`, status, [
    'where trust begins, no redirect is followed: give the final address',
  ])
}

const BUSY = ['look at the logs of the control plane; --timeout waits longer for it']

function failure(code: ErrorCode, message: string, status: number, hints: string[]): TrustError {
  return new TrustError(code, message, {facts: {status}, hints})
}
