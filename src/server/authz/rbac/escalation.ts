import type {UserInfo} from '../../../api/meta.ts'
import type {PolicyRule} from '../../../api/rbac.ts'
import {covers} from './covers.ts'
import type {RulesForUser} from './rbac-index.ts'
import {compactRules, quotedList, ruleText} from './rule-text.ts'

/** What only a cluster admin holds. */
export const FULL_AUTHORITY: PolicyRule[] = [
  {verbs: ['*'], apiGroups: ['*'], resources: ['*']},
  {verbs: ['*'], nonResourceURLs: ['*']},
]

/** Why the user may not hand out these rules, in Kubernetes' words; undefined where the user holds them all. */
export function escalationProblem(
  user: UserInfo,
  own: RulesForUser,
  wanted: readonly PolicyRule[],
): string | undefined {
  const {covered, missing} = covers(own.rules, wanted)
  if (covered) return undefined
  const lines = [...new Set(compactRules(missing).map(ruleText))].sort()
  const text = `user ${JSON.stringify(user.username)} (groups=${quotedList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`
  return own.error === undefined ? text : `${text}; resolution errors: [${own.error}]`
}
