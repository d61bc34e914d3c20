import {peerCertificates, type PeerOptions} from '../client/peer-certificates.ts'
import {elsewhere, type ErrorCode, TrustError, type Hint} from '../errors.ts'
import {readPresented} from '../pki/verify.ts'
import {requireCurrentServer} from './validity.ts'

export interface ExplainOptions extends PeerOptions {
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

/** The error with hints for discovery, when there is no kubeconfig to check yet. */
export async function explain(error: unknown, url: URL, options: ExplainOptions): Promise<unknown> {
  if (!(error instanceof TrustError)) return error
  const {systemCode} = error.facts
  if (typeof systemCode === 'string' && systemCode.startsWith('HPE_')) return notHttp(error)
  if (UNTIMELY.some((code) => code === systemCode)) {
    const untimely = await findUntimely(url, options)
    if (untimely) return untimely
  }
  const hints = systemCode === 'ENOTFOUND' ? UNKNOWN_NAME : HINTS[error.code]
  return hints ? restate(error, error.code, error.message, hints) : error
}

const UNKNOWN_NAME = ['check the spelling of the name, and the DNS servers of this machine']

function notHttp(error: TrustError): TrustError {
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
      requireCurrentServer(certificate, url.origin, options)
    }
    return undefined
  } catch (found) {
    return found
  }
}

function restate(cause: TrustError, code: ErrorCode, message: string, hints: Hint[]): TrustError {
  return new TrustError(code, message, {cause, facts: cause.facts, hints})
}
