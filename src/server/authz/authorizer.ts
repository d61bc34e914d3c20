import type {UserInfo} from '../../api/meta.ts'
import type {AccessAttributes, AccessDecision, Authorize} from '../kernel/resource.ts'
import {forbidden, type StatusError} from '../kernel/status.ts'
import {isMaster} from '../kernel/users.ts'
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

const quoted = (text: string) => JSON.stringify(text)

/** Who may not do what, in Kubernetes' words. */
function sentence({username}: UserInfo, {verb, resource, path = ''}: AccessAttributes): string {
  if (resource === undefined) return `User ${quoted(username)} cannot ${verb} path ${quoted(path)}`
  const {group, namespace, subresource} = resource
  const what = subresource === '' ? resource.resource : `${resource.resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(namespace)}`
  return `User ${quoted(username)} cannot ${verb} resource ${quoted(what)} in API group ${quoted(group)} ${where}`
}

/** The 403 for a refused request; it ends with the authorizer's reason. */
export function refusal(user: UserInfo, attributes: AccessAttributes, reason: string): StatusError {
  const text = sentence(user, attributes)
  const why = reason === '' ? text : `${text}: ${reason}`
  const {resource} = attributes
  if (resource === undefined) return forbidden(undefined, '', why)
  return forbidden({group: resource.group, plural: resource.resource}, resource.name, why)
}

/** Throws Forbidden unless the user may. */
export function requireAllowed(
  authorize: Authorize,
  user: UserInfo,
  attributes: AccessAttributes,
): string {
  const {allowed, reason} = authorize(user, attributes)
  if (!allowed) throw refusal(user, attributes, reason)
  return reason
}
