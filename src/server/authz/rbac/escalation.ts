import type {UserInfo} from '../../../api/meta.ts'
import type {PolicyRule} from '../../../api/rbac.ts'
import {covers} from './covers.ts'
import type {RulesForUser} from './rbac-index.ts'

/** What only a cluster admin holds. */
export const FULL_AUTHORITY: PolicyRule[] = [
  {verbs: ['*'], apiGroups: ['*'], resources: ['*']},
  {verbs: ['*'], nonResourceURLs: ['*']},
]

/** Why the user may not hand out these rules, in Kubernetes' words; undefined if the user holds them all. */
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

/** Go's `%q` of a list of strings. */
const quotedList = (values: readonly string[]) =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

/** One rule on one line, as Kubernetes shows it in refusals. */
export function ruleText(rule: PolicyRule): string {
  const fields: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = fields.flatMap(([name, values]) =>
    values === undefined || values.length === 0 ? [] : [`${name}:${quotedList(values)}`],
  )
  return `{${shown.join(', ')}}`
}

/** Joins the verbs of rules that are for the same single resource (and name), as Kubernetes' CompactRules. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const complex: PolicyRule[] = []
  const simple = new Map<string, {rule: PolicyRule; verbs: Set<string>}>()
  for (const rule of rules) {
    const key = simpleKey(rule)
    if (key === undefined) {
      complex.push(rule)
      continue
    }
    const known = simple.get(key)
    if (known === undefined) simple.set(key, {rule, verbs: new Set(rule.verbs)})
    else for (const verb of rule.verbs) known.verbs.add(verb)
  }
  const joined = Array.from(simple.values(), ({rule, verbs}) => ({...rule, verbs: [...verbs]}))
  return [...complex, ...joined]
}

function simpleKey(rule: PolicyRule): string | undefined {
  const {apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = []} = rule
  const isSimple =
    apiGroups.length === 1 &&
    resources.length === 1 &&
    resourceNames.length <= 1 &&
    nonResourceURLs.length === 0
  return isSimple ? JSON.stringify([apiGroups, resources, resourceNames]) : undefined
}
