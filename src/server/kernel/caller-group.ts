import {BOOTSTRAPPERS_GROUP} from '../../bootstrap/groups.ts'
import type {UserInfo} from '../../api/meta.ts'
import {NODES_GROUP, NODE_USER_PREFIX, splitServiceAccountUsername} from './users.ts'

/** Kinds of callers. One token makes many identities, so what is shared is shared between these first. */
export type CallerGroup = 'nodes' | 'people' | 'serviceAccounts' | 'tokens'

export function callerGroup({username, groups}: UserInfo): CallerGroup {
  if (username.startsWith(NODE_USER_PREFIX) && groups.includes(NODES_GROUP)) return 'nodes'
  if (groups.includes(BOOTSTRAPPERS_GROUP)) return 'tokens'
  return splitServiceAccountUsername(username) === undefined ? 'people' : 'serviceAccounts'
}
