import type {SubjectRulesReviewStatus} from '../../api/authorization.ts'
import type {UserInfo} from '../../api/meta.ts'

/** What a TokenReview learns of a token. */
export type TokenVerdict =
  {authenticated: true; user: UserInfo; audiences: string[]} | {authenticated: false; error: string}

/** An object that a token is only valid with. */
export interface BoundObject {
  kind: 'Pod' | 'Secret' | 'Node'
  name: string
  uid: string
  /** Of a pod that runs on one. */
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

/** What some resources need of authentication and authorization. */
export interface ServerServices {
  /** What tokens are for where a request names no audience. */
  audiences: string[]
  rulesFor(user: UserInfo, namespace: string): SubjectRulesReviewStatus
  /** An empty list of audiences stands for the server's own. */
  reviewToken(token: string, audiences: string[]): Promise<TokenVerdict>
  issueToken(order: TokenOrder): Promise<IssuedToken>
}
