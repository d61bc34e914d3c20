import type {DetailedPeerCertificate, PeerCertificate} from 'node:tls'
import {problemOfServer, type ServerProblem} from '../pki/server-identity.ts'

const LONGEST_CHAIN = 16

/** Error codes like those of OpenSSL. */
const CODES: Record<ServerProblem, string> = {
  host: 'ERR_TLS_CERT_ALTNAME_INVALID',
  root: 'INVALID_CA',
  'root key': 'CA_KEY_UNSUPPORTED',
  'constrained name': 'NAME_UNSUPPORTED',
  unreadable: 'CERT_UNREADABLE',
}

/** For TLS connections: whether a chain that OpenSSL accepted is for the host, and would be accepted by Go too. */
export function checkServer(host: string, certificate: PeerCertificate): Error | undefined {
  const problem = problemOfServer(chainOf(certificate as DetailedPeerCertificate), host)
  if (problem === undefined) return undefined
  const message = certificate.subjectaltname
    ? `its certificate is not accepted (${problem})`
    : 'it has no subject alternative names'
  return Object.assign(new Error(message), {code: CODES[problem], host, cert: certificate})
}

/** The certificates of a chain as DER, from the peer's own to the root. */
export function chainOf(first: DetailedPeerCertificate): Buffer[] {
  const chain: Buffer[] = []
  let next: DetailedPeerCertificate | undefined = first
  while (next?.raw && chain.length < LONGEST_CHAIN) {
    chain.push(next.raw)
    // The last one names itself as its issuer.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate
  }
  return chain
}
