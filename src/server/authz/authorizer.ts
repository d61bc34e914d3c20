import type {UserInfo} from '../../api/meta.ts'
import {isMaster} from '../kernel/users.ts'
import type {AccessAttributes, AccessDecision, Authorize} from '../kernel/resource.ts'
import type {RbacIndex} from './rbac/rbac-index.ts'

/** One member of the chain. Without an opinion it may still say why, for the text of a refusal. */
export interface Opinion {
  decision: 'allow' | 'deny' | 'noOpinion'
  reason: string
}

export type Authorizer = (user: UserInfo, attributes: AccessAttributes) => Opinion

const NO_OPINION: Opinion = {decision: 'noOpinion', reason: ''}
const ALLOWED: Opinion = {decision: 'allow', reason: ''}

/** Works without RBAC objects, so that a broken policy can always be repaired. */
const mastersAuthorizer: Authorizer = (user) => (isMaster(user) ? ALLOWED : NO_OPINION)

function rbacAuthorizer(index: RbacIndex): Authorizer {
  return (user, attributes) => {
    const {allowed, reason} = index.authorize(user, attributes)
    return {decision: allowed ? 'allow' : 'noOpinion', reason}
  }
}

/** The first that allows or denies decides. If none does, the request is refused with all their reasons. */
export function chainAuthorizers(chain: readonly Authorizer[]): Authorize {
  return (user, attributes): AccessDecision => {
    const reasons: string[] = []
    for (const authorizer of chain) {
      const {decision, reason} = authorizer(user, attributes)
      if (decision !== 'noOpinion') return {allowed: decision === 'allow', reason}
      if (reason !== '') reasons.push(reason)
    }
    return {allowed: false, reason: reasons.join(', ')}
  }
}

/** First masters, then the given authorizers (Node), then RBAC. */
export const createAuthorize = (index: RbacIndex, between: readonly Authorizer[] = []): Authorize =>
  chainAuthorizers([mastersAuthorizer, ...between, rbacAuthorizer(index)])
