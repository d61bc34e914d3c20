import type {Received} from '../../api/meta.ts'
import type * as api from '../../api/rbac.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {required} from '../kernel/field-error.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {validateLabelSelector} from '../validation/label-selector.ts'
import {pathSegmentName} from '../validation/names.ts'
import {DEFAULT_COLUMNS} from './columns.ts'
import {defineResource} from './define.ts'
import {RBAC_GROUP, validateRules} from './rbac.ts'

export type ClusterRole = Received<api.ClusterRole>

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
  group: RBAC_GROUP,
  version: 'v1',
  plural: 'clusterroles',
  singular: 'clusterrole',
  kind: 'ClusterRole',
  type: 'rbac/v1.ClusterRole',
  namespaced: false,
  verbs: ALL_VERBS,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {validate: (role) => [...validateRules(role, false), ...validateAggregation(role)]},
  columns: DEFAULT_COLUMNS,
})
