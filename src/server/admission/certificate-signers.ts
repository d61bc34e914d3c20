import type {OperationContext} from '../kernel/resource.ts'
import {isResource} from '../kernel/admission.ts'
import type {AdmissionOperation} from '../kernel/admission.ts'

const GROUP = 'certificates.k8s.io'

/** Whether this is about a CertificateSigningRequest, and about that subresource of it. */
export const isForRequests = (
  operation: AdmissionOperation,
  verb: AdmissionOperation['verb'],
  subresource: string,
): boolean =>
  operation.verb === verb &&
  operation.subresource === subresource &&
  isResource(operation, GROUP, 'certificatesigningrequests')

/** The caller may act for that signer, or for every signer of its domain. As Kubernetes' IsAuthorizedForSignerName. */
export function mayActForSigner(
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
