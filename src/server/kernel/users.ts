import type {UserInfo} from '../../api/meta.ts'
import {BOOTSTRAPPERS_GROUP} from '../../bootstrap/token-info.ts'
import {NODE_PREFIX, NODES} from '../../csr/node-names.ts'

export const ANONYMOUS_USER = 'system:anonymous'
export const AUTHENTICATED_GROUP = 'system:authenticated'
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated'
export const MASTERS_GROUP = 'system:masters'

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'
const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export const serviceAccountUsername = (namespace: string, name: string) =>
  `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string) => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The ServiceAccount of a user name, if it is one. */
export function splitServiceAccountUsername(
  username: string,
): {namespace: string; name: string} | undefined {
  if (!username.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  const [namespace = '', name = '', ...rest] = username
    .slice(SERVICE_ACCOUNT_PREFIX.length)
    .split(':')
  if (rest.length > 0 || !DNS_LABEL.test(namespace) || !DNS_SUBDOMAIN.test(name)) return undefined
  return {namespace, name}
}

export const anonymous = (): UserInfo => ({
  username: ANONYMOUS_USER,
  groups: [UNAUTHENTICATED_GROUP],
})

/** Callers are often the same object again: what others remember of them depends on that. */
const authenticated = new WeakMap<UserInfo, UserInfo>()

/** As Kubernetes' AuthenticatedGroupAdder: added last, and not to the anonymous user or one with `system:unauthenticated`. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const {username, groups} = user
  if (
    username === ANONYMOUS_USER ||
    groups.includes(AUTHENTICATED_GROUP) ||
    groups.includes(UNAUTHENTICATED_GROUP)
  ) {
    return user
  }
  const known = authenticated.get(user)
  if (known !== undefined) return known
  const added = Object.freeze({...user, groups: [...groups, AUTHENTICATED_GROUP]})
  authenticated.set(user, added)
  return added
}

export const isAnonymous = ({username}: UserInfo) => username === ANONYMOUS_USER

export const isMaster = ({groups}: UserInfo) => groups.includes(MASTERS_GROUP)

/**
 * The name of the node that a user is; undefined if it is not a node. As Kubernetes' NodeIdentifier, which requires both
 * user name and group. A user name that is only the prefix is a node without a name: it must be refused, not treated as an
 * ordinary user.
 */
export const nodeOf = ({username, groups}: UserInfo): string | undefined =>
  username.startsWith(NODE_PREFIX) && groups.includes(NODES)
    ? username.slice(NODE_PREFIX.length)
    : undefined

/** Kinds of callers. One token can create many identities, so capacity is divided between these kinds first. */
export type CallerGroup = 'nodes' | 'people' | 'serviceAccounts' | 'tokens'

export function callerGroup(user: UserInfo): CallerGroup {
  if (nodeOf(user) !== undefined) return 'nodes'
  if (user.groups.includes(BOOTSTRAPPERS_GROUP)) return 'tokens'
  return splitServiceAccountUsername(user.username) === undefined ? 'people' : 'serviceAccounts'
}
