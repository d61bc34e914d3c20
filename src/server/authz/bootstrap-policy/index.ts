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

/** Kubernetes' default Roles, `namespace/name`, with rules as those of the ClusterRoles. */
const ROLES = `
kube-public/system:controller:bootstrap-signer
  get,list,watch | "" | configmaps
  update | "" | configmaps | names cluster-info
  create,patch,update | "",events.k8s.io | events
kube-system/extension-apiserver-authentication-reader
  get,list,watch | "" | configmaps | names extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
kube-system/system::leader-locking-kube-scheduler
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
kube-system/system:controller:bootstrap-signer
  get,list,watch | "" | secrets
kube-system/system:controller:cloud-provider
  create,get,list,watch | "" | configmaps
kube-system/system:controller:token-cleaner
  delete,get,list,watch | "" | secrets
  create,patch,update | "",events.k8s.io | events
`

/** The RoleBindings to them: `namespace/name -> role: subjects`. */
const ROLE_BINDINGS = `
kube-public/system:controller:bootstrap-signer -> system:controller:bootstrap-signer: ServiceAccount kube-system/bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader -> extension-apiserver-authentication-reader: User system:kube-controller-manager, User system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager -> system::leader-locking-kube-controller-manager: User system:kube-controller-manager, ServiceAccount kube-system/kube-controller-manager, ServiceAccount kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler -> system::leader-locking-kube-scheduler: User system:kube-scheduler, ServiceAccount kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer -> system:controller:bootstrap-signer: ServiceAccount kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider -> system:controller:cloud-provider: ServiceAccount kube-system/cloud-provider
kube-system/system:controller:token-cleaner -> system:controller:token-cleaner: ServiceAccount kube-system/token-cleaner
`

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
