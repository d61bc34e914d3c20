import type {LabelSelector, Received, Unchecked} from '../../api/meta.ts'
import type * as api from '../../api/rbac.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../kernel/field-error.ts'
import type {Column} from '../kernel/resource.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsSubdomain, pathSegmentName, qualifiedName} from '../validation/names.ts'
import {checkWith, requiredWith, semanticallyEqual} from '../validation/values.ts'
import {AGE, column, DEFAULT_COLUMNS, defineResource, NAME, wideColumn} from './define.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

type Role = Received<api.Role>
type PolicyRule = NonNullable<Role['rules']>[number]
type Binding = Received<api.RoleBinding>
type Subject = NonNullable<Binding['subjects']>[number]

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

const validateRules = ({rules}: Role, namespaced: boolean): FieldError[] =>
  (rules ?? []).flatMap((rule, index) => validateRule(rule, `rules[${index}]`, namespaced))

/** Bindings may leave out API groups: the role is RBAC's, and so are users and groups. */
function defaultBinding(binding: Binding): void {
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

function validateBinding(binding: Binding, namespaced: boolean): FieldError[] {
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
function validateBindingUpdate({roleRef = {}}: Binding, old: Binding): FieldError[] {
  if (semanticallyEqual(roleRef, old.roleRef)) return []
  const shown = {APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name}
  return [invalidValue('roleRef', shown, 'cannot change roleRef')]
}

export const roles = defineResource<Role>({
  plural: 'roles',
  type: 'rbac/v1.Role',
  namespaced: true,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {validate: (role) => validateRules(role, true)},
  columns: DEFAULT_COLUMNS,
})

type ClusterRole = Received<api.ClusterRole>

/** A selector inside an object, as Kubernetes' ValidateLabelSelector. */
function validateLabelSelector(selector: Unchecked<LabelSelector>, field: string): FieldError[] {
  const expressions = (selector.matchExpressions ?? []).flatMap(
    ({key = '', operator = '', values = []}, index) => {
      const at = `${field}.matchExpressions[${index}]`
      const errors: FieldError[] = []
      if (operator === 'In' || operator === 'NotIn') {
        if (values.length === 0) {
          const why = "must be specified when `operator` is 'In' or 'NotIn'"
          errors.push(required(`${at}.values`, why))
        }
      } else if (operator === 'Exists' || operator === 'DoesNotExist') {
        if (values.length > 0) {
          const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
          errors.push(forbiddenField(`${at}.values`, why))
        }
      } else {
        errors.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'))
      }
      return [...errors, ...checkWith(qualifiedName, `${at}.key`, key)]
    },
  )
  return [...validateLabels(selector.matchLabels, `${field}.matchLabels`), ...expressions]
}

function validateAggregation({aggregationRule}: ClusterRole): FieldError[] {
  if (aggregationRule === undefined) return []
  const field = 'aggregationRule.clusterRoleSelectors'
  const selectors = aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    const why = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
    return [required(field, why)]
  }
  return selectors.flatMap((selector, index) =>
    validateLabelSelector(selector, `${field}[${index}]`),
  )
}

export const clusterRoles = defineResource<ClusterRole>({
  plural: 'clusterroles',
  type: 'rbac/v1.ClusterRole',
  namespaced: false,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {validate: (role) => [...validateRules(role, false), ...validateAggregation(role)]},
  columns: DEFAULT_COLUMNS,
})

const names = (kind: string, shown: (subject: Subject) => string) => (binding: Binding) =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(shown)
    .join(', ')

const bareName = ({name = ''}: Subject) => name

const bindingColumns: Column<Binding>[] = [
  NAME,
  column(
    'Role',
    'The role that it grants.',
    ({roleRef}) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
  ),
  AGE,
  wideColumn('Users', 'The users it grants to.', names('User', bareName)),
  wideColumn('Groups', 'The groups it grants to.', names('Group', bareName)),
  wideColumn(
    'ServiceAccounts',
    'The service accounts it grants to.',
    names('ServiceAccount', ({namespace = '', name = ''}) => `${namespace}/${name}`),
  ),
]

export const roleBindings = defineResource<Binding>({
  plural: 'rolebindings',
  type: 'rbac/v1.RoleBinding',
  namespaced: true,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {
    defaults: defaultBinding,
    validate: (binding) => validateBinding(binding, true),
    validateUpdate: validateBindingUpdate,
  },
  columns: bindingColumns,
})

export const clusterRoleBindings = defineResource<Binding>({
  plural: 'clusterrolebindings',
  type: 'rbac/v1.ClusterRoleBinding',
  namespaced: false,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {
    defaults: defaultBinding,
    validate: (binding) => validateBinding(binding, false),
    validateUpdate: validateBindingUpdate,
  },
  columns: bindingColumns,
})
