import {constants, createHash} from 'node:crypto'
import type {DetailedPeerCertificate, TLSSocket} from 'node:tls'
import {parseBundle} from '../../pki/bundle.ts'
import {certificatePem, isSelfIssued, publicKeyOf} from '../../pki/certificate.ts'
import {MOST_PRESENTED} from '../../pki/client-identity.ts'
import {isSignedBySync} from '../../pki/signatures.ts'
import type {PeerCertificates} from '../kernel/api-request.ts'

export interface TlsMaterial {
  /** The serving certificate with its intermediates, PEM. */
  certificate: string
  key: string
  /** The CAs that the server names when it asks callers for a certificate. */
  clientAuthorities: string
}

/** Forward secret and authenticated only: no CBC and no key exchange by RSA. Go's clients offer all of them. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/**
 * The serving certificate with the CA that signed it. OpenSSL sends that CA if it is among those of the clients, and would look for
 * it, and check its signature, in each handshake.
 */
function servedChain({certificate, clientAuthorities}: TlsMaterial): string {
  if (clientAuthorities === '') return certificate
  try {
    const [leaf, ...others] = parseBundle(certificate)
    if (leaf === undefined || others.length > 0) return certificate
    const authority = parseBundle(clientAuthorities).find(
      (one) =>
        isSelfIssued(one) &&
        one.subject.der.equals(leaf.issuer.der) &&
        isSignedBySync(leaf.signed, publicKeyOf(one)),
    )
    return authority === undefined ? certificate : certificatePem(leaf) + certificatePem(authority)
  } catch {
    // What cannot be read here is left to OpenSSL.
    return certificate
  }
}

/**
 * The options of a TLS server that may be changed while it runs. Sessions are not resumed: a resumed one does not bring the
 * intermediates of the caller's certificate, and Kubernetes' clients do not ask for it.
 */
export const contextOf = (material: TlsMaterial) => ({
  cert: servedChain(material),
  key: material.key,
  // Without any, Node.js would trust and read its list of public CAs.
  ca: material.clientAuthorities === '' ? [] : material.clientAuthorities,
  minVersion: 'TLSv1.2' as const,
  ciphers: CIPHERS,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
})

/** The certificates a caller has shown, read once a connection. */
export class PeerCertificateReader {
  readonly #bySocket = new WeakMap<TLSSocket, PeerCertificates | 'none'>()

  read(socket: TLSSocket): PeerCertificates | undefined {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known === 'none' ? undefined : known
    const peer = fromHandshake(socket)
    this.#bySocket.set(socket, peer ?? 'none')
    return peer
  }
}

function fromHandshake(socket: TLSSocket): PeerCertificates | undefined {
  const leaf = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined
  // An absent certificate is an empty object, or null once the socket is closed.
  if (leaf?.raw === undefined) return undefined
  const chain = presentedChain(leaf)
  const hash = createHash('sha256')
  for (const der of chain) hash.update(der)
  return {fingerprint: hash.digest('hex'), chain}
}

/** One more than is accepted, so that too many can be detected. */
function presentedChain(leaf: DetailedPeerCertificate): Uint8Array[] {
  const chain: Uint8Array[] = []
  let certificate: DetailedPeerCertificate | undefined = leaf
  while (certificate?.raw !== undefined && chain.length <= MOST_PRESENTED) {
    chain.push(certificate.raw)
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate
    certificate = issuer === certificate ? undefined : issuer
  }
  return chain
}
