import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {API_SERVER_CLIENT} from '../../csr/signers.ts'
import {requestOf} from '../../csr/request-of.ts'
import {MASTERS_GROUP} from '../authn/users.ts'
import {isForRequests} from './certificate-signers.ts'
import {denied} from './plugin.ts'
import type {AdmissionPlugin} from './plugin.ts'

/** Nobody asks for a client certificate that may do everything. As Kubernetes' CertificateSubjectRestriction. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(operation) {
    if (!isForRequests(operation, 'create', '')) return
    const csr = operation.object as CertificateSigningRequest
    if (csr.spec.signerName !== API_SERVER_CLIENT) return
    const verdict = requestOf(csr)
    if ('why' in verdict) throw denied(operation, `unable to parse csr: ${verdict.why}`)
    if (!verdict.request.subject.organizations.includes(MASTERS_GROUP)) return
    throw denied(
      operation,
      `use of ${API_SERVER_CLIENT} signer with ${MASTERS_GROUP} group is not allowed`,
    )
  },
}
