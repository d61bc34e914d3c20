import {isDeepStrictEqual} from 'node:util'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '../../api/rbac.ts'
import {TrustError} from '../../errors.ts'

/** Adds the rules that the others of a role do not cover. */
export const withRules =
  <T extends Role | ClusterRole>({rules: wanted}: T) =>
  (found: T): T => {
    const rules = found.rules ?? []
    const missing = (wanted ?? []).filter((rule) => !rules.some((one) => covers(one, rule)))
    return missing.length === 0 ? found : {...found, rules: [...rules, ...missing]}
  }

/** Adds the subjects that a binding lacks. One of another role is somebody's own, and stays. */
export const withSubjects =
  <T extends RoleBinding | ClusterRoleBinding>(wanted: T) =>
  (found: T): T => {
    if (!isDeepStrictEqual(found.roleRef, wanted.roleRef)) throw ofAnotherRole(wanted)
    const subjects = found.subjects ?? []
    const missing = (wanted.subjects ?? []).filter(
      (subject) => !subjects.some((one) => isSame(one, subject)),
    )
    return missing.length === 0 ? found : {...found, subjects: [...subjects, ...missing]}
  }

/** Whether one rule allows all that the other does. */
export function covers(rule: PolicyRule, wanted: PolicyRule): boolean {
  const isIn = (part: 'verbs' | 'apiGroups' | 'resources') => {
    const values = rule[part] ?? []
    return values.includes('*') || (wanted[part] ?? []).every((one) => values.includes(one))
  }
  const names = rule.resourceNames ?? []
  const wantedNames = wanted.resourceNames ?? []
  const hasNames =
    names.length === 0 ||
    (wantedNames.length > 0 && wantedNames.every((one) => names.includes(one)))
  return isIn('verbs') && isIn('apiGroups') && isIn('resources') && hasNames
}

const isSame = (one: Subject, other: Subject): boolean =>
  one.kind === other.kind && one.name === other.name && one.namespace === other.namespace

function ofAnotherRole({metadata: {name = '', namespace}, roleRef}: RoleBinding): TrustError {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  const place = namespace === undefined ? '' : ` --namespace ${namespace}`
  return new TrustError(
    'CONFLICT',
    `the ${kind} "${name}" does not bind the ${roleRef.kind} "${roleRef.name}"`,
    {
      facts: {kind, name, namespace},
      hints: [
        `if nobody needs it, delete it with "kubectl delete ${kind.toLowerCase()} ${name}${place}", and try again`,
      ],
    },
  )
}
