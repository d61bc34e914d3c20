import {ALL_VERBS} from '../kernel/resource.ts'
import {pathSegmentName} from '../validation/names.ts'
import {DEFAULT_COLUMNS} from './columns.ts'
import {defineResource} from './define.ts'
import type {Role} from './rbac.ts'
import {RBAC_GROUP, validateRules} from './rbac.ts'

export const roles = defineResource<Role>({
  group: RBAC_GROUP,
  version: 'v1',
  plural: 'roles',
  singular: 'role',
  kind: 'Role',
  type: 'rbac/v1.Role',
  namespaced: true,
  verbs: ALL_VERBS,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {validate: (role) => validateRules(role, true)},
  columns: DEFAULT_COLUMNS,
})
