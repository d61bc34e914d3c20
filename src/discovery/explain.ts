import {peerCertificates, type PeerOptions} from '../client/connector.ts'
import {printable} from '../client/printable.ts'
import {isStatus} from '../client/status-errors.ts'
import {elsewhere, type ErrorCode, TrustError, type Hint} from '../errors.ts'
import {readPresented} from '../pki/verify.ts'
import {requireCurrentServer} from './validity.ts'

interface ExplainOptions extends PeerOptions {
  /** Whether it is the web server of a discovery file, which knows nothing of the cluster. */
  isWebServer?: boolean
  now: Date
  serverTime?: Date | undefined
}

const UNTIMELY = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']

const HINTS: Partial<Record<ErrorCode, Hint[]>> = {
  SERVER_UNREACHABLE: [
    'check the address, the port, firewalls and the proxy variables',
    elsewhere(
      'check that the control plane runs ("trustadm status" on its machine), or wait longer with "join --timeout"',
    ),
  ],
  TIMED_OUT: [elsewhere('check the control plane with "trustadm status" on its machine')],
  SERVER_NOT_TLS: ['check the port: an API server speaks HTTPS'],
  SERVER_NOT_TRUSTED: [
    'if you did not expect this, stop: someone may be intercepting the connection to the cluster',
    'check that the address is one of those in the certificate of the server',
  ],
  ANSWER_TOO_LARGE: ['check that the address is the right one'],
}

const WEB_HINTS: typeof HINTS = {
  SERVER_UNREACHABLE: [
    'check the URL, firewalls and the proxy variables',
    'check that the web server runs, or wait longer with "join --timeout"',
  ],
  TIMED_OUT: ['check the web server, or wait longer with "join --timeout"'],
  SERVER_NOT_TLS: ['check the port in the URL: the web server must speak HTTPS'],
  SERVER_NOT_TRUSTED: [
    'if its certificate comes from a CA that this machine does not know, name that with --discovery-file-ca',
    'check that the host in the URL is one of the names in the certificate of the web server',
    'if you did not expect this, stop: someone may be intercepting the connection to the web server',
  ],
  ANSWER_TOO_LARGE: ['check the URL: a discovery file has a few KiB'],
}

/** What to do about a status with which a web server does not give out the discovery file. */
export function fileUnavailable(status: number, origin: string): TrustError {
  const hint =
    status === 401 || status === 403
      ? 'the file must be available without a login'
      : status === 404 || status === 410
        ? 'check the URL; if the file is published later, wait for it with "join --timeout"'
        : status === 429 || status >= 500
          ? 'check the web server and its log, or wait longer with "join --timeout"'
          : 'check the URL: the web server must return the file itself, with status 200'
  const message = `${origin} returned ${status} for the discovery file`
  return new TrustError('DISCOVERY_FILE_UNAVAILABLE', message, {facts: {status}, hints: [hint]})
}

/** The error with hints for discovery, when there is no kubeconfig to check yet. */
export async function explain(error: unknown, url: URL, options: ExplainOptions): Promise<unknown> {
  if (!(error instanceof TrustError)) return error
  const {systemCode} = error.facts
  const {isWebServer = false} = options
  if (typeof systemCode === 'string' && systemCode.startsWith('HPE_'))
    return notHttp(error, isWebServer)
  if (UNTIMELY.some((code) => code === systemCode)) {
    const untimely = await findUntimely(url, options)
    if (untimely) return untimely
  }
  const hints =
    systemCode === 'ENOTFOUND' ? UNKNOWN_NAME : (isWebServer ? WEB_HINTS : HINTS)[error.code]
  return hints ? restate(error, error.code, error.message, hints) : error
}

const UNKNOWN_NAME = ['check the spelling of the name, and the DNS servers of this machine']

function notHttp(error: TrustError, isWebServer: boolean): TrustError {
  if (isWebServer) return restate(error, error.code, error.message, ['check the port in the URL'])
  return restate(
    error,
    'NOT_KUBERNETES',
    `${error.message}, so it is not a Kubernetes API server`,
    ['check the address and the port'],
  )
}

/** OpenSSL reports only that some certificate is not valid now: reads them from the server to find which, and by how much. */
async function findUntimely(url: URL, options: ExplainOptions): Promise<unknown> {
  const shown = await peerCertificates(url, options).catch(() => [])
  try {
    for (const certificate of readPresented(shown)) {
      requireCurrentServer(certificate, url.origin, options, options.isWebServer)
    }
    return undefined
  } catch (found) {
    return found
  }
}

function restate(cause: TrustError, code: ErrorCode, message: string, hints: Hint[]): TrustError {
  return new TrustError(code, message, {cause, facts: cause.facts, hints})
}

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
