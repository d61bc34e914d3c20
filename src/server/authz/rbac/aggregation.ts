import type {ClusterRole, PolicyRule} from '../../../api/rbac.ts'
import {compileLabelSelector, matchesLabels} from '../../selectors/label-selector.ts'

/**
 * The aggregated ClusterRoles whose rules are not what their selectors gather, with the rules they should have.
 * An aggregated role has no rules of its own, so what counts are the plain roles that it reaches, also through other
 * aggregated ones. That is where Kubernetes' controller ends up after enough rounds; roles that select each other in a
 * circle, which never come to rest there, do here.
 */
export function aggregate(clusterRoles: readonly ClusterRole[]): Map<string, PolicyRule[]> {
  const sorted = [...clusterRoles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const changed = new Map<string, PolicyRule[]>()
  for (const role of sorted) {
    if (role.aggregationRule === undefined) continue
    const rules = gather(role, sorted)
    if (JSON.stringify(rules.map(ruleKey)) !== JSON.stringify((role.rules ?? []).map(ruleKey))) {
      changed.set(nameOf(role), rules)
    }
  }
  return changed
}

const nameOf = ({metadata}: ClusterRole) => metadata.name ?? ''

function gather(start: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>()
  const visited = new Set<ClusterRole>()
  const visit = (role: ClusterRole) => {
    if (visited.has(role)) return
    visited.add(role)
    if (role.aggregationRule === undefined) {
      for (const rule of role.rules ?? []) {
        const key = ruleKey(rule)
        if (!rules.has(key)) rules.set(key, rule)
      }
      return
    }
    for (const selected of select(role, all)) visit(selected)
  }
  visit(start)
  return [...rules.values()]
}

function select(role: ClusterRole, all: readonly ClusterRole[]): ClusterRole[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(compileLabelSelector)
  return all.filter(
    (other) =>
      other !== role &&
      selectors.some((selector) => matchesLabels(selector, other.metadata.labels)),
  )
}

const ruleKey = ({verbs, apiGroups, resources, resourceNames, nonResourceURLs}: PolicyRule) =>
  JSON.stringify([
    verbs,
    apiGroups ?? [],
    resources ?? [],
    resourceNames ?? [],
    nonResourceURLs ?? [],
  ])
