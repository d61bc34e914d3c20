import type {ApiObject} from './meta.ts'

/** `authentication.k8s.io/v1`: reviews can only be created; the response has the result in `status`. */
export interface TokenReview extends ApiObject {
  spec: {token?: string; audiences?: string[]}
  status?: TokenReviewStatus
}

interface TokenReviewStatus {
  authenticated?: boolean
  user?: ReviewedUser
  audiences?: string[]
  error?: string
}

/** Every field may be missing on the wire. */
interface ReviewedUser {
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

/** The `token` subresource of a ServiceAccount. */
export interface TokenRequest extends ApiObject {
  spec: TokenRequestSpec
  status?: {token: string; expirationTimestamp: string}
}

interface TokenRequestSpec {
  audiences?: string[]
  expirationSeconds?: number
  boundObjectRef?: {apiVersion?: string; kind?: string; name?: string; uid?: string}
}

export interface SelfSubjectReview extends ApiObject {
  status?: {userInfo?: ReviewedUser}
}
