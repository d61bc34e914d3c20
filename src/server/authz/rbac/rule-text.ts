import type {PolicyRule} from '../../../api/rbac.ts'

/** Go's `%q` of a list of strings. */
export const quotedList = (values: readonly string[]) =>
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
