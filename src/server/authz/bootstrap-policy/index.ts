import type {ObjectMeta} from '../../../api/meta.ts'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from '../../../api/rbac.ts'
import {aggregate} from '../rbac/aggregation.ts'
import {CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES} from './cluster-roles.ts'
import {
  OWN_CLUSTER_ROLE_BINDINGS,
  OWN_CLUSTER_ROLES,
  OWN_ROLE_BINDINGS,
  OWN_ROLES,
} from './own-roles.ts'
import {parseBindings, parseRoles} from './parse.ts'
import {ROLE_BINDINGS, ROLES} from './roles.ts'

export {reconcile} from './reconcile.ts'

const GROUP = 'rbac.authorization.k8s.io'
const API_VERSION = `${GROUP}/v1`
const aggregationLabel = (role: string) => `${GROUP}/aggregate-to-${role}`

export interface BootstrapPolicy {
  clusterRoles: ClusterRole[]
  clusterRoleBindings: ClusterRoleBinding[]
  roles: Role[]
  roleBindings: RoleBinding[]
}

/**
 * The RBAC objects that a Kubernetes server has from its first start, and those of our own controllers, newly created at
 * each call.
 */
export function bootstrapPolicy(): BootstrapPolicy {
  return {
    clusterRoles: clusterRoles(),
    clusterRoleBindings: parseBindings(CLUSTER_ROLE_BINDINGS + OWN_CLUSTER_ROLE_BINDINGS).map(
      ({name, role, subjects}) => ({
        ...typed('ClusterRoleBinding', {name}),
        ...(subjects.length === 0 ? {} : {subjects}),
        roleRef: {apiGroup: GROUP, kind: 'ClusterRole', name: role},
      }),
    ),
    roles: parseRoles(ROLES + OWN_ROLES).map(({name, rules}) => ({
      ...typed('Role', namespaced(name)),
      rules,
    })),
    roleBindings: parseBindings(ROLE_BINDINGS + OWN_ROLE_BINDINGS).map(
      ({name, role, subjects}) => ({
        ...typed('RoleBinding', namespaced(name)),
        subjects,
        roleRef: {apiGroup: GROUP, kind: 'Role', name: role},
      }),
    ),
  }
}

function clusterRoles(): ClusterRole[] {
  const roles = parseRoles(CLUSTER_ROLES + OWN_CLUSTER_ROLES).map(
    ({name, marks, rules}): ClusterRole => {
      const {'part-of': partOf, gathers} = marks
      const labels = partOf === undefined ? {} : {[aggregationLabel(partOf)]: 'true'}
      return {
        ...typed('ClusterRole', {name, labels}),
        ...(gathers === undefined
          ? {}
          : {
              aggregationRule: {
                clusterRoleSelectors: [{matchLabels: {[aggregationLabel(gathers)]: 'true'}}],
              },
            }),
        rules,
      }
    },
  )
  const gathered = aggregate(roles)
  return roles.map((role): ClusterRole => {
    const rules: PolicyRule[] | undefined = gathered.get(role.metadata.name ?? '')
    return rules === undefined ? role : {...role, rules}
  })
}

function namespaced(text: string): ObjectMeta {
  const [namespace = '', name = ''] = text.split('/')
  return {name, namespace}
}

const typed = (kind: string, {labels, ...metadata}: ObjectMeta) => ({
  kind,
  apiVersion: API_VERSION,
  metadata: {
    ...metadata,
    labels: {'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels},
    annotations: {'rbac.authorization.kubernetes.io/autoupdate': 'true'},
  },
})
