import {rulesOfNodes} from '../authz/node/node-authorizer.ts'
import {type RbacIndex, rulesReview} from '../authz/rbac/rbac-index.ts'
import type {ServerServices} from '../kernel/services.ts'
import {createTokenReview} from './bearer.ts'
import type {BearerAuthenticator} from './bearer.ts'
import {issueServiceAccountToken} from './service-account-tokens.ts'
import type {ServiceAccountTokenOptions} from './service-account-tokens.ts'

export interface ServerServicesOptions {
  index: RbacIndex
  bearers: readonly BearerAuthenticator[]
  /** The server's own, which a token is for where nothing else is asked. */
  audiences: readonly string[]
  tokens: Pick<ServiceAccountTokenOptions, 'clock' | 'issuers' | 'keys'>
}

/** What reviews and token requests need, made of the parts that serve requests themselves. */
export function createServerServices({
  index,
  bearers,
  audiences,
  tokens,
}: ServerServicesOptions): ServerServices {
  return {
    audiences: [...audiences],
    rulesFor: (user, namespace) => rulesOfNodes(user, rulesReview(index, user, namespace)),
    reviewToken: createTokenReview(bearers, audiences),
    issueToken: (order) => issueServiceAccountToken(tokens, order),
  }
}
