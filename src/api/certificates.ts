import type {ApiObject} from './meta.ts'

/** `certificates.k8s.io/v1`. */
export interface CertificateSigningRequest extends ApiObject {
  spec: CertificateSigningRequestSpec
  status?: CertificateSigningRequestStatus
}

interface CertificateSigningRequestSpec {
  /** The PEM of a PKCS#10 request, in base64. */
  request: string
  signerName: string
  usages?: string[]
  expirationSeconds?: number
  /** The requester: set by the server, whatever the request contains. */
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[]
  /** The issued chain as PEM, in base64. */
  certificate?: string
}

export interface CertificateSigningRequestCondition {
  type: 'Approved' | 'Denied' | 'Failed' | (string & {})
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastUpdateTime?: string | null
  lastTransitionTime?: string | null
}
