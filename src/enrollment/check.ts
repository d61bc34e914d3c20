import {X509Certificate} from 'node:crypto'
import {TrustError, hasCode, messageOf} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {publicKeyOf, type Certificate} from '../pki/certificate.ts'
import {isPairOf, type KeyPair} from '../pki/keys.ts'
import {isExtendedUsage} from '../pki/usages.ts'
import type {WantedCertificate} from './request.ts'
import {formatTimestamp} from '../runtime.ts'

export interface IssuedChain {
  certificate: Certificate
  /** The certificates that came with it. */
  intermediates: Certificate[]
}

/** Refuses a certificate that was not asked for: for another key, name or use, or outside its validity. */
export function requireRequested(
  pem: string,
  wanted: Pick<WantedCertificate, 'subject' | 'usages'>,
  {privateKey}: Pick<KeyPair, 'privateKey'>,
  now: Date,
): IssuedChain {
  const chain = read(pem)
  const {certificate} = chain
  if (!isPairOf(privateKey, publicKeyOf(certificate))) throw refused('it is for another key')
  // A client is its subject. Signers of servers may leave it out.
  if (wanted.usages.includes('client auth') && !hasSubject(certificate, wanted.subject)) {
    throw refused('it is for another name')
  }
  const {extendedKeyUsages: allowed} = certificate
  const missing = wanted.usages.find((one) => isExtendedUsage(one) && !allowed?.includes(one))
  if (allowed && missing !== undefined) throw refused(`it is not for "${missing}"`)
  if (certificate.notAfter <= now) throw refused('it has expired already')
  if (certificate.notBefore > now) throw clockBehind(certificate.notBefore, now)
  return chain
}

/** Whether a certificate has just this common name and these organizations. */
export const hasSubject = (
  {subject}: Pick<Certificate, 'subject'>,
  {commonName, organizations}: WantedCertificate['subject'],
): boolean =>
  subject.commonName === commonName &&
  subject.organizations.length === organizations.length &&
  subject.organizations.every((one) => organizations.includes(one))

function read(pem: string): IssuedChain {
  try {
    const [certificate, ...intermediates] = parseBundle(pem)
    if (!certificate) throw refused('it is empty')
    // A certificate that OpenSSL cannot read could not be used for a connection.
    new X509Certificate(certificate.der)
    return {certificate, intermediates}
  } catch (error) {
    throw refused(hasCode(error, 'CERTIFICATE_INVALID') ? messageOf(error) : 'it cannot be read')
  }
}

export function refused(reason: string): TrustError {
  return new TrustError('CERTIFICATE_INVALID', `the issued certificate is refused: ${reason}`, {
    hints: [
      'check which signer issues certificates in the cluster; nothing was stored on this machine',
    ],
  })
}

function clockBehind(notBefore: Date, now: Date): TrustError {
  return new TrustError(
    'CLOCK_SKEWED',
    `the clock of this machine is behind: the certificate is valid from ${formatTimestamp(notBefore)}, and this machine shows ${formatTimestamp(now)}`,
    {hints: ['set the clock of this machine, preferably with NTP, and try again']},
  )
}
