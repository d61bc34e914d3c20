import type {UserInfo} from '../../api/meta.ts'
import {NODE_PREFIX, NODES} from '../../csr/node-names.ts'
import {requireAllowed} from '../authz/authorizer.ts'
import type {AccessAttributes, Authorize} from '../kernel/resource.ts'
import {badRequest} from '../kernel/status.ts'
import {
  ANONYMOUS_USER,
  UNAUTHENTICATED_GROUP,
  serviceAccountGroups,
  splitServiceAccountUsername,
  withAuthenticatedGroup,
} from '../kernel/users.ts'

/** Who a caller asks to be taken for. */
export interface ImpersonationRequest {
  username: string
  uid: string
  groups: string[]
  extra: Record<string, string[]>
}

const EXTRA_PREFIX = 'impersonate-extra-'
const AUTHENTICATION_GROUP = 'authentication.k8s.io'

/** Reads the headers, repeated ones apart; undefined if there are none. */
export function parseImpersonation(
  rawHeaders: readonly string[],
): ImpersonationRequest | undefined {
  const request: ImpersonationRequest = {username: '', uid: '', groups: [], extra: {}}
  const extra = new Map<string, string[]>()
  let asked = false
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    if (name === 'impersonate-user') request.username ||= value
    else if (name === 'impersonate-uid') request.uid ||= value
    else if (name === 'impersonate-group') request.groups.push(value)
    else if (name.startsWith(EXTRA_PREFIX)) {
      const key = decodeKey(name.slice(EXTRA_PREFIX.length))
      extra.set(key, [...(extra.get(key) ?? []), value])
    } else continue
    asked ||= value !== '' || name.startsWith(EXTRA_PREFIX)
  }
  if (!asked) return undefined
  if (request.username === '') {
    throw badRequest('requested to impersonate groups, a uid or extra without impersonating a user')
  }
  return {...request, extra: Object.fromEntries(extra)}
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/**
 * The user that a request counts as. Each part of the wish needs its own permission of the real caller, and the first
 * that is lacking is the 403. Nothing of the caller is inherited.
 */
export function impersonate(
  caller: UserInfo,
  wish: ImpersonationRequest,
  {authorize, request}: {authorize: Authorize; request: AccessAttributes},
): UserInfo {
  if (mayActAsNode(caller, wish, authorize, request)) {
    return withAuthenticatedGroup({username: wish.username, groups: [NODES]})
  }
  for (const attributes of permissionsFor(wish)) requireAllowed(authorize, caller, attributes)

  const {username, uid, extra} = wish
  const account = splitServiceAccountUsername(username)
  const groups =
    account !== undefined && wish.groups.length === 0
      ? serviceAccountGroups(account.namespace)
      : wish.groups
  const user: UserInfo = {
    username,
    ...(uid === '' ? {} : {uid}),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : {extra}),
  }
  if (username !== ANONYMOUS_USER) return withAuthenticatedGroup(user)
  return groups.includes(UNAUTHENTICATED_GROUP)
    ? user
    : {...user, groups: [...groups, UNAUTHENTICATED_GROUP]}
}

function permissionsFor({username, uid, groups, extra}: ImpersonationRequest): AccessAttributes[] {
  const account = splitServiceAccountUsername(username)
  return [
    account === undefined
      ? permission('', 'users', username)
      : permission('', 'serviceaccounts', account.name, {namespace: account.namespace}),
    ...groups.map((group) => permission('', 'groups', group)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) =>
        permission(AUTHENTICATION_GROUP, 'userextras', value, {subresource: key}),
      ),
    ),
    ...(uid === '' ? [] : [permission(AUTHENTICATION_GROUP, 'uids', uid)]),
  ]
}

const permission = (
  group: string,
  resource: string,
  name: string,
  {namespace = '', subresource = ''} = {},
  verb = 'impersonate',
): AccessAttributes => ({
  verb,
  resource: {group, version: 'v1', resource, subresource, namespace, name},
})

/**
 * Kubernetes' constrained impersonation of a node, which only ever adds a permission: who may act as any node for this
 * very request, and names nothing but the node's user, acts with the nodes' group.
 */
function mayActAsNode(
  caller: UserInfo,
  {username, uid, groups, extra}: ImpersonationRequest,
  authorize: Authorize,
  request: AccessAttributes,
): boolean {
  const node = username.startsWith(NODE_PREFIX) ? username.slice(NODE_PREFIX.length) : ''
  if (node === '' || uid !== '' || groups.length > 0 || Object.keys(extra).length > 0) return false
  const asNode = permission(AUTHENTICATION_GROUP, 'nodes', node, {}, 'impersonate:arbitrary-node')
  return (
    authorize(caller, {...request, verb: `impersonate-on:arbitrary-node:${request.verb}`})
      .allowed && authorize(caller, asNode).allowed
  )
}
