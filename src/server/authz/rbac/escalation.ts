import type {UserInfo} from '../../../api/meta.ts'
import type {PolicyRule} from '../../../api/rbac.ts'
import {urlPrefixesOf} from './compiled-role.ts'
import type {RulesForUser} from './rbac-index.ts'

/** How many comparisons all rules together may take: checking them would stall the server. What is left then counts as not held. */
const MAX_COMPARISONS = 2_000_000

interface Coverage {
  covered: boolean
  /** What the owner does not hold, part by part. */
  missing: PolicyRule[]
}

/**
 * Whether the owner's rules hold everything that the wanted ones grant, as Kubernetes' validation.Covers: each single
 * combination of group, resource, verb and name must be held through one of the owner's rules.
 */
export function covers(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  const holders = owned.map(toHolder)
  const missing: PolicyRule[] = []
  const perPart = holders.reduce((sum, {urlPrefixes}) => sum + 1 + urlPrefixes.length, 0)
  let left = MAX_COMPARISONS
  for (const rule of wanted) {
    left -= perPart * sizeOf(rule)
    // One rule that covers all of it covers each part of it.
    if (left >= 0 && holders.some((holder) => holds(holder, rule))) continue
    left -= perPart * partCount(rule)
    if (left < 0) {
      missing.push(rule)
      continue
    }
    for (const part of partsOf(rule)) {
      if (!holders.some((holder) => holds(holder, part))) missing.push(part)
    }
  }
  return {covered: missing.length === 0, missing}
}

interface Holder {
  verbs: ReadonlySet<string>
  groups: ReadonlySet<string>
  resources: ReadonlySet<string>
  names: ReadonlySet<string>
  urls: ReadonlySet<string>
  urlPrefixes: string[]
}

const toHolder = (rule: PolicyRule): Holder => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  resources: new Set(rule.resources),
  names: new Set(rule.resourceNames),
  urls: new Set(rule.nonResourceURLs),
  urlPrefixes: urlPrefixesOf(rule.nonResourceURLs ?? []),
})

const hasAll = (held: ReadonlySet<string>, wanted: readonly string[] = []) =>
  held.has('*') || wanted.every((one) => held.has(one))

function holds(owner: Holder, rule: PolicyRule): boolean {
  const {apiGroups, resources = [], resourceNames = [], nonResourceURLs = []} = rule
  return (
    hasAll(owner.verbs, rule.verbs) &&
    hasAll(owner.groups, apiGroups) &&
    resources.every((resource) => holdsResource(owner.resources, resource)) &&
    nonResourceURLs.every((url) => holdsUrl(owner, url)) &&
    (owner.names.size === 0 ||
      (resourceNames.length > 0 && resourceNames.every((name) => owner.names.has(name))))
  )
}

function holdsResource(held: ReadonlySet<string>, wanted: string): boolean {
  if (held.has('*') || held.has(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash !== -1 && held.has(`*${wanted.slice(slash)}`)
}

const holdsUrl = ({urls, urlPrefixes}: Holder, wanted: string) =>
  urls.has(wanted) || urlPrefixes.some((prefix) => wanted.startsWith(prefix))

const sizeOf = (rule: PolicyRule) =>
  rule.verbs.length +
  (rule.apiGroups?.length ?? 0) +
  (rule.resources?.length ?? 0) +
  (rule.resourceNames?.length ?? 0) +
  (rule.nonResourceURLs?.length ?? 0)

const partCount = ({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule) =>
  verbs.length *
  (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)

function* partsOf(rule: PolicyRule): Generator<PolicyRule> {
  const {apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = []} = rule
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of rule.verbs) {
        for (const name of names) {
          yield {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name === undefined ? {} : {resourceNames: [name]}),
          }
        }
      }
    }
  }
  for (const url of nonResourceURLs) {
    for (const verb of rule.verbs) yield {verbs: [verb], nonResourceURLs: [url]}
  }
}

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
