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
  const simple = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const key = simpleKey(rule)
    if (key === undefined) {
      complex.push(rule)
      continue
    }
    const known = simple.get(key)
    if (known === undefined) simple.set(key, {...rule, verbs: [...rule.verbs]})
    else known.verbs.push(...rule.verbs.filter((verb) => !known.verbs.includes(verb)))
  }
  return [...complex, ...simple.values()]
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
