import type {UserInfo} from '../../api/meta.ts'
import type {AccessAttributes, Authorize} from '../kernel/resource.ts'
import {forbidden} from '../kernel/status.ts'
import type {StatusError} from '../kernel/status.ts'

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
