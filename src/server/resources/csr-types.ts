import type {ApiObject} from '../../api/meta.ts'

export interface CsrCondition {
  type: string
  status?: string
  reason?: string
  message?: string
  lastUpdateTime?: string | null
  lastTransitionTime?: string | null
}

export interface CertificateSigningRequest extends ApiObject {
  spec?: {
    /** PEM, base64. */
    request?: string
    signerName?: string
    expirationSeconds?: number
    usages?: string[]
    username?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
  }
  status?: {
    conditions?: CsrCondition[]
    /** PEM, base64. */
    certificate?: string
  }
}

export const APPROVED = 'Approved'
export const DENIED = 'Denied'
export const FAILED = 'Failed'

export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown'
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving'
