import type {ApiObject, LabelSelector} from './meta.ts'

/** `rbac.authorization.k8s.io/v1`. */
export interface Role extends ApiObject {
  rules: PolicyRule[] | null
}

export interface ClusterRole extends ApiObject {
  rules: PolicyRule[] | null
  aggregationRule?: {clusterRoleSelectors?: LabelSelector[]}
}

export interface RoleBinding extends ApiObject {
  subjects?: Subject[]
  roleRef: RoleRef
}

export interface ClusterRoleBinding extends ApiObject {
  subjects?: Subject[]
  roleRef: RoleRef
}

export interface PolicyRule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

export interface Subject {
  kind: 'User' | 'Group' | 'ServiceAccount'
  apiGroup?: string
  name: string
  namespace?: string
}

export interface RoleRef {
  apiGroup: string
  kind: 'Role' | 'ClusterRole'
  name: string
}
