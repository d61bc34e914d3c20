import {ALL_VERBS} from '../kernel/resource.ts'
import {pathSegmentName} from '../validation/names.ts'
import {defineResource} from './define.ts'
import {bindingColumns} from './rbac-columns.ts'
import {
  type Binding,
  RBAC_GROUP,
  defaultBinding,
  validateBinding,
  validateBindingUpdate,
} from './rbac.ts'

export const roleBindings = defineResource<Binding>({
  group: RBAC_GROUP,
  version: 'v1',
  plural: 'rolebindings',
  singular: 'rolebinding',
  kind: 'RoleBinding',
  type: 'rbac/v1.RoleBinding',
  namespaced: true,
  verbs: ALL_VERBS,
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
  group: RBAC_GROUP,
  version: 'v1',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  kind: 'ClusterRoleBinding',
  type: 'rbac/v1.ClusterRoleBinding',
  namespaced: false,
  verbs: ALL_VERBS,
  createOnUpdate: true,
  validateName: pathSegmentName,
  strategy: {
    defaults: defaultBinding,
    validate: (binding) => validateBinding(binding, false),
    validateUpdate: validateBindingUpdate,
  },
  columns: bindingColumns,
})
