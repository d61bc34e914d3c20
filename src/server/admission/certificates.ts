import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {
  callerKeyOf,
  certificateFingerprint,
  credentialOf,
  tokenOfCredential,
} from '../../csr/user-extra.ts'
import {parseStoredRequest, requestOf} from '../../csr/read-request.ts'
import {isClientSigner} from '../../csr/signers.ts'
import {pinOf} from '../../pki/pins.ts'
import type {RevocationList} from '../../trust/revocations.ts'
import {
  isResource,
  denied,
  type AdmissionOperation,
  type AdmissionPlugin,
} from '../kernel/admission.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {MASTERS_GROUP} from '../kernel/users.ts'
import {semanticallyEqual} from '../validation/values.ts'

const GROUP = 'certificates.k8s.io'

/** Whether this concerns a CertificateSigningRequest, and this subresource of it. */
export const isForRequests = (
  operation: AdmissionOperation,
  verb: AdmissionOperation['verb'],
  subresource: string,
): boolean =>
  operation.verb === verb &&
  operation.subresource === subresource &&
  isResource(operation, GROUP, 'certificatesigningrequests')

/** The caller may act for that signer, or for every signer of its domain. As Kubernetes' IsAuthorizedForSignerName. */
function mayActForSigner(
  {user, authorize}: OperationContext,
  verb: 'approve' | 'sign',
  signerName: string,
): boolean {
  const [domain = ''] = signerName.split('/')
  return [signerName, `${domain}/*`].some((name) => {
    const signers = {
      group: GROUP,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
    }
    return authorize(user, {verb, resource: signers}).allowed
  })
}

/**
 * To approve or deny a request, a caller needs the verb `approve` for its signer. The signer is read from the stored
 * request, because the body may name another one. As Kubernetes' CertificateApproval.
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

/**
 * To issue a certificate or mark a request as failed, a caller needs the verb `sign` for the request's signer. As
 * Kubernetes' CertificateSigning.
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

/** Whether this server accepts client certificates of the CA that a signer signs with. */
export type BelievesSigner = (signerName: string) => boolean

/**
 * Nobody may ask for a client certificate of `system:masters`. As Kubernetes' CertificateSubjectRestriction, which checks
 * only kube-apiserver-client; here every signer counts whose certificates the server accepts.
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

/**
 * No certificate is issued for a revoked key, nor to whoever asked with a certificate that is revoked by now. A signer may have missed the
 * revocation by a moment; this list is the one that the server's authenticator uses. Kubernetes has nothing of the kind.
 */
export const certificateRevocation = (
  revoked: Pick<RevocationList, 'findKey' | 'findFingerprint' | 'findToken' | 'findUser'>,
): AdmissionPlugin => ({
  name: 'CertificateRevocation',
  validate(operation) {
    if (!isForRequests(operation, 'update', 'status')) return
    const old = operation.old as CertificateSigningRequest
    const {status} = operation.object as CertificateSigningRequest
    if ((status?.certificate ?? '') === (old.status?.certificate ?? '')) return
    const verdict = parseStoredRequest(old.spec.request)
    const key = 'why' in verdict ? undefined : revoked.findKey(pinOf(verdict.request))
    if (key) throw denied(operation, 'the key of the request is revoked')
    const credential = credentialOf(old.spec) ?? ''
    if (revoked.findFingerprint(certificateFingerprint(credential)))
      throw denied(operation, 'the certificate that the request was made with is revoked')
    const callerKey = callerKeyOf(old)
    if (callerKey !== undefined && revoked.findKey(callerKey))
      throw denied(operation, 'the key that the request was made with is revoked')
    const made = new Date(old.metadata.creationTimestamp ?? 0)
    if (revoked.findUser(old.spec.username ?? '', made, callerKey))
      throw denied(operation, 'the requester was revoked after it made the request')
    if (revoked.findToken(tokenOfCredential(credential)))
      throw denied(operation, 'the token that the request was made with is revoked')
  },
})
