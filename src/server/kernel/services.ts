import type {SubjectRulesReviewStatus} from '../../api/authorization.ts'
import type {UserInfo} from '../../api/meta.ts'

/** What a TokenReview learns about a token. */
export type TokenVerdict =
  {authenticated: true; user: UserInfo; audiences: string[]} | {authenticated: false; error: string}

/** The object that a token is bound to. */
export interface BoundObject {
  kind: 'Pod' | 'Secret' | 'Node'
  name: string
  uid: string
  /** The node of the pod that the token is bound to. */
  node?: {name: string; uid: string}
}

export interface TokenOrder {
  serviceAccount: {namespace: string; name: string; uid: string}
  audiences: string[]
  expirationSeconds: number
  bound?: BoundObject
}

export interface IssuedToken {
  token: string
  expires: Date
}

/** What some resources need from authentication and authorization. */
export interface ServerServices {
  /** The audiences of tokens if a request names none. */
  audiences: string[]
  rulesFor(user: UserInfo, namespace: string): SubjectRulesReviewStatus
  /** An empty list of audiences means the server's own. */
  reviewToken(token: string, audiences: string[]): Promise<TokenVerdict>
  issueToken(order: TokenOrder): Promise<IssuedToken>
}
