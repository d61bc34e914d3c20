import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {isApproved, isIssued, isOpen} from '../../csr/conditions.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import type {KnownCertificate} from './known-certificates.ts'

/** How long an undecided request is kept at most. Nobody grants it while its key is on the list. */
const LONGEST_PENDING = 86_400_000

/** The key of a request that may still get a certificate; none if it was issued, denied or refused. */
export function awaitedKey(csr: CertificateSigningRequest, now: Date): KnownCertificate[] {
  if (isIssued(csr) || !(isOpen(csr) || isApproved(csr))) return []
  const requested = requestedCertificate(csr)
  if (requested === undefined) return []
  const {commonName, pin} = requested
  const {name} = csr.metadata
  return [
    {
      user: commonName,
      pin,
      ...(name !== undefined && {request: name}),
      // An approved one may be signed at this moment, for a time that is not known.
      ...(isOpen(csr) && {notAfter: new Date(now.getTime() + LONGEST_PENDING)}),
    },
  ]
}
