import type {ApiObject} from '../../api/meta.ts'
import type {ExtraVersion} from '../kernel/resource.ts'
import {requestOf} from '../../csr/read-request.ts'
import {isPermitted} from '../../csr/request-rules.ts'
import {contentOf} from '../../csr/requested-certificate.ts'
import type {CertificateSigningRequest} from './csr-spec-validation.ts'
import {KUBELET_CLIENT, KUBELET_SERVING, LEGACY_UNKNOWN, SIGNER_RULES} from '../../csr/signers.ts'

/** The signer that a request appears to be for. */
function signerFor(csr: CertificateSigningRequest, usages: string[]): string {
  const verdict = requestOf(csr)
  if ('why' in verdict) return LEGACY_UNKNOWN
  const content = contentOf(verdict.request, usages)
  const guesses = [KUBELET_CLIENT, KUBELET_SERVING] as const
  return guesses.find((signer) => isPermitted(content, SIGNER_RULES[signer])) ?? LEGACY_UNKNOWN
}

/** v1beta1 fills in what v1 requires. */
function defaults(object: ApiObject): void {
  const csr: CertificateSigningRequest = object
  const spec = (csr.spec ??= {})
  const usages = (spec.usages ??= ['digital signature', 'key encipherment'])
  spec.signerName ??= signerFor(csr, usages)
  for (const condition of csr.status?.conditions ?? []) {
    if (condition.status === undefined || condition.status === '') condition.status = 'True'
  }
}

export const csrV1beta1: ExtraVersion = {
  version: 'v1beta1',
  type: 'certificates/v1beta1.CertificateSigningRequest',
  deprecation:
    'certificates.k8s.io/v1beta1 CertificateSigningRequest is deprecated in v1.19+, unavailable in v1.22+; use certificates.k8s.io/v1 CertificateSigningRequest',
  defaults,
}
