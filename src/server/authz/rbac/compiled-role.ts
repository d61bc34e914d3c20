import type {PolicyRule} from '../../../api/rbac.ts'
import type {AccessAttributes} from '../../kernel/resource.ts'

const ALL = '*'

interface ResourceRule {
  /** Undefined: all of them. */
  groups: ReadonlySet<string> | undefined
  resources: ReadonlySet<string> | undefined
  names: ReadonlySet<string> | undefined
}

interface PathRule {
  exact: ReadonlySet<string>
  prefixes: string[]
}

interface Bucket {
  resources: ResourceRule[]
  paths: PathRule[]
}

const setOrAll = (values: readonly string[]) => (values.includes(ALL) ? undefined : new Set(values))

/** A role's rules by verb: a request looks at the rules of its own verb and at those for all verbs, at nothing else. */
export class CompiledRole {
  readonly rules: readonly PolicyRule[]
  readonly #byVerb = new Map<string, Bucket>()

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
    for (const rule of rules) this.#add(rule)
  }

  allows(attributes: AccessAttributes): boolean {
    return (
      bucketAllows(this.#byVerb.get(attributes.verb), attributes) ||
      bucketAllows(this.#byVerb.get(ALL), attributes)
    )
  }

  #add(rule: PolicyRule): void {
    const {apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = []} = rule
    const resource: ResourceRule | undefined =
      apiGroups.length > 0 && resources.length > 0
        ? {
            groups: setOrAll(apiGroups),
            resources: setOrAll(resources),
            names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
          }
        : undefined
    const path: PathRule | undefined =
      nonResourceURLs.length > 0
        ? {
            exact: new Set(nonResourceURLs),
            prefixes: urlPrefixesOf(nonResourceURLs),
          }
        : undefined
    for (const verb of new Set(rule.verbs)) {
      const bucket = this.#byVerb.get(verb) ?? {resources: [], paths: []}
      this.#byVerb.set(verb, bucket)
      if (resource !== undefined) bucket.resources.push(resource)
      if (path !== undefined) bucket.paths.push(path)
    }
  }
}

function bucketAllows(bucket: Bucket | undefined, {resource, path}: AccessAttributes): boolean {
  if (bucket === undefined) return false
  if (resource !== undefined) return resourceAllowed(bucket.resources, resource)
  return path !== undefined && pathAllowed(bucket.paths, path)
}

/** `pods` does not cover `pods/status`, `pods/*` covers nothing, a rule with names never covers a request without one. */
function resourceAllowed(
  rules: ResourceRule[],
  {group, resource, subresource, name}: NonNullable<AccessAttributes['resource']>,
): boolean {
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`
  const anyWithSubresource = subresource === '' ? undefined : `*/${subresource}`
  for (const {groups, resources, names} of rules) {
    if (groups !== undefined && !groups.has(group)) continue
    if (
      resources !== undefined &&
      !resources.has(wanted) &&
      (anyWithSubresource === undefined || !resources.has(anyWithSubresource))
    ) {
      continue
    }
    if (names === undefined || names.has(name)) return true
  }
  return false
}

function pathAllowed(rules: PathRule[], path: string): boolean {
  return rules.some(
    ({exact, prefixes}) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)),
  )
}

/** Only the first star of a run may begin a match: otherwise each one does, and a long run takes quadratic time. */
const TRAILING_STARS = /(?<!\*)\*+$/

/** What the URLs of a rule that end in `*` begin with. */
export const urlPrefixesOf = (urls: readonly string[]): string[] =>
  urls.filter((url) => url.endsWith('*')).map((url) => url.replace(TRAILING_STARS, ''))
