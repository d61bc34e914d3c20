import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {isForRequests, mayActForSigner} from './certificate-signers.ts'
import {denied} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

/**
 * Who decides on a request, one way or the other, needs the verb `approve` for the signer it was made for. What was sent
 * is not asked: it may name another one. As Kubernetes' CertificateApproval.
 */
export const certificateApproval: AdmissionPlugin = {
  name: 'CertificateApproval',
  validate(operation, context) {
    if (!isForRequests(operation, 'update', 'approval')) return
    const {signerName} = (operation.old as CertificateSigningRequest).spec
    if (mayActForSigner(context, 'approve', signerName)) return
    throw denied(
      operation,
      `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`,
    )
  },
}
