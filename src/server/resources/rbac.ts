import type {Received} from '../../api/meta.ts'
import type * as api from '../../api/rbac.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, notSupported, required} from '../kernel/field-error.ts'
import {semanticallyEqual, checkWith, requiredWith} from '../validation/values.ts'
import {dnsSubdomain, pathSegmentName} from '../validation/names.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'

export type Role = Received<api.Role>
type PolicyRule = NonNullable<Role['rules']>[number]
export type Binding = Received<api.RoleBinding>
export type Subject = NonNullable<Binding['subjects']>[number]

function validateRule(rule: PolicyRule, field: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const urls = rule.nonResourceURLs ?? []
  if (!rule.verbs?.length) {
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
  }
  if (urls.length > 0) {
    const at = `${field}.nonResourceURLs`
    if (namespaced) {
      errors.push(invalidValue(at, urls, 'namespaced rules cannot apply to non-resource URLs'))
    }
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
      const why = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push(invalidValue(at, urls, why))
    }
    return errors
  }
  if (!rule.apiGroups?.length) {
    const why = 'resource rules must supply at least one api group'
    errors.push(required(`${field}.apiGroups`, why))
  }
  if (!rule.resources?.length) {
    const why = 'resource rules must supply at least one resource'
    errors.push(required(`${field}.resources`, why))
  }
  return errors
}

export const validateRules = ({rules}: Role, namespaced: boolean): FieldError[] =>
  (rules ?? []).flatMap((rule, index) => validateRule(rule, `rules[${index}]`, namespaced))

/** Bindings may leave out API groups: the role is RBAC's, and so are users and groups. */
export function defaultBinding(binding: Binding): void {
  const roleRef = (binding.roleRef ??= {})
  if (roleRef.apiGroup === undefined || roleRef.apiGroup === '') roleRef.apiGroup = RBAC_GROUP
  for (const subject of binding.subjects ?? []) {
    if (subject.apiGroup || (subject.kind !== 'User' && subject.kind !== 'Group')) continue
    subject.apiGroup = RBAC_GROUP
  }
}

function validateSubject(subject: Subject, field: string, namespaced: boolean): FieldError[] {
  const {kind = '', name = '', apiGroup = ''} = subject
  const missing = name === '' ? [required(`${field}.name`)] : []
  if (kind === 'ServiceAccount') {
    return [
      ...missing,
      ...(name === '' ? [] : checkWith(dnsSubdomain, `${field}.name`, name)),
      ...(apiGroup === '' ? [] : [notSupported(`${field}.apiGroup`, apiGroup, [''])]),
      ...(namespaced || subject.namespace ? [] : [required(`${field}.namespace`)]),
    ]
  }
  if (kind === 'User' || kind === 'Group') {
    return apiGroup === RBAC_GROUP
      ? missing
      : [...missing, notSupported(`${field}.apiGroup`, apiGroup, [RBAC_GROUP])]
  }
  return [...missing, notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
}

export function validateBinding(binding: Binding, namespaced: boolean): FieldError[] {
  const {apiGroup = '', kind = '', name} = binding.roleRef ?? {}
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  return [
    ...(apiGroup === RBAC_GROUP ? [] : [notSupported('roleRef.apiGroup', apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...requiredWith((value) => pathSegmentName(value, false), 'roleRef.name', name),
    ...(binding.subjects ?? []).flatMap((subject, index) =>
      validateSubject(subject, `subjects[${index}]`, namespaced),
    ),
  ]
}

/** A binding's role cannot change. */
export function validateBindingUpdate({roleRef = {}}: Binding, old: Binding): FieldError[] {
  if (semanticallyEqual(roleRef, old.roleRef)) return []
  const shown = {APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name}
  return [invalidValue('roleRef', shown, 'cannot change roleRef')]
}
