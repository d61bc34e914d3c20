import {constants} from 'node:crypto'
import {parseBundle} from '../../pki/bundle.ts'
import {certificatePem, isSelfIssued, publicKeyOf} from '../../pki/certificate.ts'
import {isSignedBySync} from '../../pki/signatures.ts'

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
function chainOf({certificate, clientAuthorities}: TlsMaterial): string {
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
  cert: chainOf(material),
  key: material.key,
  // Without any, Node.js would trust and read its list of public CAs.
  ca: material.clientAuthorities === '' ? [] : material.clientAuthorities,
  minVersion: 'TLSv1.2' as const,
  ciphers: CIPHERS,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
})
