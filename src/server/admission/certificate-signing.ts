import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {semanticallyEqual} from '../validation/equality.ts'
import {isForRequests, mayActForSigner} from './certificate-signers.ts'
import {denied} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

/**
 * Who issues a certificate or says that it will not come needs the verb `sign` for the signer the request was made for.
 * As Kubernetes' CertificateSigning.
 */
export const certificateSigning: AdmissionPlugin = {
  name: 'CertificateSigning',
  validate(operation, context) {
    if (!isForRequests(operation, 'update', 'status')) return
    const old = operation.old as CertificateSigningRequest
    if (!changesStatus(operation.object as CertificateSigningRequest, old)) return
    const {signerName} = old.spec
    if (mayActForSigner(context, 'sign', signerName)) return
    throw denied(
      operation,
      `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`,
    )
  },
}

function changesStatus({status: now}: CertificateSigningRequest, old: CertificateSigningRequest) {
  const before = old.status
  return (
    (now?.certificate ?? '') !== (before?.certificate ?? '') ||
    !semanticallyEqual(now?.conditions ?? [], before?.conditions ?? [])
  )
}
