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
