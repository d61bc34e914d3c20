import {X509Certificate} from 'node:crypto'
import {TrustError, hasCode, messageOf} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {parseCertificate, publicKeyOf, type Certificate} from '../pki/certificate.ts'
import {isPairOf, type KeyPair} from '../pki/keys.ts'
import {verifyChain} from '../pki/verify.ts'
import {subjectOf} from './client-request.ts'

/** Whether the certificate is that node's and no other's. */
export function isOfNode({subject}: Certificate, node: string): boolean {
  const {commonName, organizations} = subjectOf(node)
  return (
    subject.commonName === commonName &&
    subject.organizations.length === organizations.length &&
    subject.organizations.every((one) => organizations.includes(one))
  )
}

/** Refuses a certificate that was not asked for: of another key, another name, or out of its time. */
export function requireRequested(
  pem: string,
  node: string,
  {privateKey}: KeyPair,
  now: Date,
): Certificate {
  const certificate = read(pem)
  if (!isPairOf(privateKey, publicKeyOf(certificate))) throw wrong('it is for another key')
  if (!isOfNode(certificate, node)) throw wrong('it is for another name')
  if (certificate.extendedKeyUsages && !certificate.extendedKeyUsages.includes('client auth')) {
    throw wrong('it is not for clients')
  }
  if (certificate.notAfter <= now) throw wrong('it has expired already')
  if (certificate.notBefore > now) {
    throw new TrustError(
      'CLOCK_SKEWED',
      `the clock of this machine is behind: the certificate is valid from ${certificate.notBefore.toISOString()}, and here it is ${now.toISOString()}`,
      {hints: ['set the clock of this machine, best by NTP, and try again']},
    )
  }
  return certificate
}

function read(pem: string): Certificate {
  try {
    const certificate = parseCertificate(pem)
    // What OpenSSL cannot read would be of no use in a connection.
    new X509Certificate(certificate.der)
    return certificate
  } catch (error) {
    throw wrong(hasCode(error, 'CERTIFICATE_INVALID') ? messageOf(error) : 'it cannot be read')
  }
}

/** Whether the cluster's CAs vouch for it. Some clusters sign their clients by a CA of its own, which cluster-info does not show. */
export function isVouchedFor(
  certificate: Certificate,
  ca: string | undefined,
  pem: string,
  now: Date,
): boolean {
  if (ca === undefined) return false
  const [, ...intermediates] = parseBundle(pem)
  const options = {roots: parseBundle(ca), intermediates, usage: 'client auth', now} as const
  return verifyChain(certificate, options).ok
}

export function wrong(reason: string): TrustError {
  return new TrustError('CERTIFICATE_INVALID', `the issued certificate is refused: ${reason}`, {
    hints: ['look at what signs certificate requests in the cluster; nothing of it was kept here'],
  })
}
