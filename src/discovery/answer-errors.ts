import {printable} from '../client/printable.ts'
import {isStatus} from '../client/status-errors.ts'
import {elsewhere, type ErrorCode, TrustError, type Hint} from '../errors.ts'

/** The error for a response that is not cluster-info. */
export function answerError(status: number, value: unknown, server: string): TrustError {
  if (status >= 300 && status < 400) return redirectRefused(status, server)
  const failure = failureOf(status, server)
  // Load balancers return these while the server behind them starts.
  if (status >= 500) return failure('SERVER_ERROR', `returned ${status}`, BUSY)
  if (!isStatus(value)) {
    return failure(
      'NOT_KUBERNETES',
      `returned ${status}, but not in the form of a Kubernetes API server`,
      ['check the address and the port, and that no proxy answers in its place'],
    )
  }
  if (status === 404) {
    return failure('CLUSTER_INFO_MISSING', 'has no cluster-info', [
      'the control plane may still be starting: wait longer with "join --timeout"',
      elsewhere(
        'if its cluster-info phase was skipped, run "trustadm init phase cluster-info" there',
      ),
    ])
  }
  if (status === 401 || status === 403) {
    return failure('CLUSTER_INFO_FORBIDDEN', 'does not allow anonymous reads of cluster-info', [
      elsewhere('to allow them, run "trustadm init phase cluster-info" on the control plane'),
      'if they are forbidden on purpose, join with --discovery-file',
    ])
  }
  if (status === 429) return failure('TOO_MANY_REQUESTS', 'is busy and asks to wait', BUSY)
  const said = printable(value.message ?? 'no reason given')
  return failure('BAD_REQUEST', `returned ${status}: ${said}`, [])
}

export const redirectRefused = (status: number, server: string): TrustError =>
  failureOf(status, server)('REDIRECT_REFUSED', `returned a redirect (${status})`, [
    'discovery follows no redirects: use the final address',
  ])

const BUSY = ['check the logs of the control plane, or wait longer with "join --timeout"']

const failureOf =
  (status: number, server: string) =>
  (code: ErrorCode, what: string, hints: Hint[]): TrustError =>
    new TrustError(code, `${server} ${what}`, {facts: {server, status}, hints})
