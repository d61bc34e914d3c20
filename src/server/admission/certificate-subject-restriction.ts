import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {requestOf} from '../../csr/read-request.ts'
import {isClientSigner} from '../../csr/signers.ts'
import {MASTERS_GROUP} from '../kernel/users.ts'
import {isForRequests} from './certificate-signers.ts'
import {denied} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

/** Whether this server knows clients by the CA that a signer signs with. */
export type BelievesSigner = (signerName: string) => boolean

/**
 * Nobody asks for a client certificate that may do everything. As Kubernetes' CertificateSubjectRestriction, which looks at
 * kube-apiserver-client only; here every signer counts that the server would believe.
 */
export const certificateSubjectRestriction = (
  believes: BelievesSigner = () => false,
): AdmissionPlugin => ({
  name: 'CertificateSubjectRestriction',
  validate(operation) {
    if (!isForRequests(operation, 'create', '')) return
    const csr = operation.object as CertificateSigningRequest
    const {signerName} = csr.spec
    if (!isClientSigner(signerName) && !believes(signerName)) return
    const verdict = requestOf(csr)
    if ('why' in verdict) throw denied(operation, `unable to parse csr: ${verdict.why}`)
    if (!verdict.request.subject.organizations.includes(MASTERS_GROUP)) return
    throw denied(
      operation,
      `use of ${signerName} signer with ${MASTERS_GROUP} group is not allowed`,
    )
  },
})
