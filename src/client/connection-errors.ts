import {elsewhere, type ErrorCode, messageOf, systemCode, TrustError, type Hint} from '../errors.ts'
import {printable} from './printable.ts'

/** No connection to the server: nothing of the request was sent. */
const NEVER_SENT = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['EHOSTUNREACH', 'there is no route to the host'],
  ['ENETUNREACH', 'there is no route to the network'],
  ['ENETDOWN', 'the network is down'],
  ['EAI_AGAIN', 'its name cannot be resolved now'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it did not accept a connection in time'],
  ['ETIMEDOUT', 'it did not accept a connection in time'],
])

const CUT = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET'])

/** Turns an error of a socket, TLS or the HTTP parser into one that says what to do. */
export function connectionError(error: unknown, server: string): TrustError {
  if (error instanceof TrustError) return error
  const code = rootCode(error)
  const facts = code === undefined ? {server} : {server, systemCode: code}
  return (
    distrustOf(error, code, server) ??
    new TrustError(
      code?.startsWith('HPE_') ? 'SERVER_ERROR' : 'SERVER_UNREACHABLE',
      `${server} ${reasonFor(code, error)}`,
      {cause: error, facts, hints: hintsFor(code)},
    )
  )
}

/** Whether a request that failed like this can be sent again without a risk of doing it twice. */
export function wasNeverSent(error: unknown): boolean {
  return NEVER_SENT.has(factCode(error) ?? '')
}

/** Whether the connection broke after the request was sent: the server may have processed it. */
export function wasCut(error: unknown): boolean {
  return CUT.has(factCode(error) ?? '')
}

function factCode(error: unknown): string | undefined {
  const code = error instanceof TrustError ? error.facts.systemCode : undefined
  return typeof code === 'string' ? code : undefined
}

/** undici wraps some socket errors: the innermost code says what happened. */
function rootCode(error: unknown): string | undefined {
  if (error instanceof Error && error.name === 'HTTPParserError') return 'HPE_INVALID'
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  return (inner && systemCode(inner)) ?? systemCode(error)
}

function reasonFor(code: string | undefined, error: unknown): string {
  if (code === 'ENOTFOUND') return 'cannot be reached: its name does not exist'
  if (code !== undefined && NEVER_SENT.has(code)) {
    return `cannot be reached: ${NEVER_SENT.get(code) ?? code}`
  }
  if (code !== undefined && CUT.has(code)) return 'closed the connection'
  if (code?.startsWith('HPE_')) return 'does not speak HTTP'
  return `cannot be reached: ${printable(messageOf(error))}`
}

function hintsFor(code: string | undefined): Hint[] {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return ['check the host name in the kubeconfig, and the DNS servers of this machine']
  }
  if (code?.startsWith('HPE_')) return ['check that the address is that of a Kubernetes API server']
  return [
    elsewhere('check that the API server runs ("trustadm status" on its machine)'),
    'check the address in the kubeconfig, firewalls and the proxy variables',
  ]
}

const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
])

const UNFIT = new Map([
  ['INVALID_CA', 'was signed by a certificate that is not a CA'],
  ['INVALID_PURPOSE', 'is not for servers'],
  ['CA_KEY_UNSUPPORTED', 'comes from a CA whose key is not RSA, ECDSA or Ed25519'],
  ['CA_KEY_TOO_SMALL', 'comes from a CA whose key is too small'],
  ['NAME_UNSUPPORTED', 'has a malformed name, below a CA that limits names'],
  ['CERT_UNREADABLE', 'cannot be read'],
  ['CERT_REVOKED', 'was revoked'],
  ['CERT_REJECTED', 'was rejected'],
  ['PATH_LENGTH_EXCEEDED', 'comes with a chain longer than its CA allows'],
  ['CERT_CHAIN_TOO_LONG', 'comes with a chain that is too long'],
  ['ERROR_IN_CERT_NOT_AFTER_FIELD', 'has a malformed date'],
  ['ERROR_IN_CERT_NOT_BEFORE_FIELD', 'has a malformed date'],
])

const NOT_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
])

const OUR_CERTIFICATE_REFUSED =
  /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(REQUIRED|EXPIRED|REVOKED|UNKNOWN)|ACCESS_DENIED|UNSUPPORTED_CERTIFICATE)/

interface Verdict {
  problem: string
  hints: Hint[]
  code?: ErrorCode
}

/** Why TLS failed, in words; undefined if the failure is not one of TLS. */
function distrustOf(
  error: unknown,
  code: string | undefined,
  server: string,
): TrustError | undefined {
  if (code === undefined) return undefined
  const details = {cause: error, facts: {server, systemCode: code}}
  if (OUR_CERTIFICATE_REFUSED.test(code)) {
    return new TrustError('UNAUTHORIZED', `${server} refused the client certificate`, {
      ...details,
      hints: ['the certificate in the kubeconfig has expired, or was signed by another CA'],
    })
  }
  const found = verdict(error, code)
  if (!found) return undefined
  const {problem, hints, code: errorCode = 'SERVER_NOT_TRUSTED'} = found
  return new TrustError(errorCode, `${server} ${problem}`, {...details, hints})
}

/** Whether the `systemCode` in the facts of an error of `distrustOf` means that the CA of the server is not trusted. */
export const isUnknownAuthority = (systemCode: unknown): boolean =>
  typeof systemCode === 'string' && UNKNOWN_AUTHORITY.has(systemCode)

function verdict(error: unknown, code: string): Verdict | undefined {
  if (code === 'CERT_HAS_EXPIRED') {
    return {
      problem: 'presents a certificate that has expired, or whose CA has expired',
      hints: [
        'check the clock of this machine',
        elsewhere('renew it with "trustadm certificate renew" on the control plane'),
      ],
    }
  }
  if (code === 'CERT_NOT_YET_VALID') {
    return {
      problem: 'presents a certificate that is not valid yet',
      hints: ['check the clocks of this machine and of the server'],
    }
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return wrongHost(error)
  if (UNKNOWN_AUTHORITY.has(code)) {
    return {
      problem: 'presents a certificate that no trusted CA has signed',
      hints: [
        'the kubeconfig may be for another cluster, or older than a rotation of the CA',
        'get a new kubeconfig from the control plane; if you did not expect this, stop',
      ],
    }
  }
  if (UNFIT.has(code)) {
    return {
      problem: `presents a certificate that ${UNFIT.get(code) ?? 'cannot be used'}`,
      hints: [elsewhere('renew it with "trustadm certificate renew" on the control plane')],
    }
  }
  if (NOT_TLS.has(code)) {
    return {
      code: 'SERVER_NOT_TLS',
      problem: 'does not speak TLS on that port',
      hints: ['check the port: an API server speaks HTTPS'],
    }
  }
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    return {
      code: 'TLS_FAILED',
      problem: 'and this program could not agree on a secure connection',
      hints: [`TLS 1.2 or newer is needed (${code})`],
    }
  }
  return undefined
}

function wrongHost(error: unknown): Verdict {
  const {host, cert} = error as {host?: string; cert?: {subjectaltname?: string}}
  const names = cert?.subjectaltname
  return {
    problem: names
      ? `presents a certificate for ${printable(names)}, not for "${host ?? 'that host'}"`
      : `presents a certificate for another host: ${printable(messageOf(error))}`,
    hints: [
      'use one of these names in the kubeconfig, or set tls-server-name',
      elsewhere(
        'add the name with "trustadm init phase certs --apiserver-cert-extra-sans" on the control plane',
      ),
    ],
  }
}
