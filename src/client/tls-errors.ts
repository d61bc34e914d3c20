import {elsewhere, type ErrorCode, messageOf, TrustError, type Hint} from '../errors.ts'
import {printable} from './printable.ts'

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
export function distrustOf(
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
