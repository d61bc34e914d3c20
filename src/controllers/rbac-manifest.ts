import type {ServiceAccount} from '../api/core.ts'
import type {ApiObject} from '../api/meta.ts'
import type {ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding} from '../api/rbac.ts'
import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {
  LEADER_PERMISSIONS,
  PERMISSIONS,
  REVOCATION_PERMISSIONS,
  signPermissions,
  type Permission,
} from './permissions.ts'

const NAME = 'trustadm-controllers'
const NAMESPACE = 'kube-system'
const RBAC = 'rbac.authorization.k8s.io'

/** The account that the manifests are for. */
export const CONTROLLERS_ACCOUNT = {name: NAME, namespace: NAMESPACE}

/** Events are optional for the controllers, but useful to people. */
const EVENTS: readonly Permission[] = ['create', 'patch'].map((verb) => ({
  verb,
  group: '',
  resource: 'events',
}))

/** In a cluster of trustadm these follow the list of revoked certificates. */
const FOLLOW_REVOCATIONS = [
  'csr-approver',
  'csr-signer',
  'kubelet-serving-approver',
  'machine-approver',
]

interface RbacOptions {
  /** Names in the table of portable controllers. */
  controllers: readonly string[]
  /** The signers that csr-signer signs for. */
  signers: readonly string[]
}

/** What controllers outside of the server need: a namespace for leases and records, an account, and exactly the rights that they check at their start. */
export function rbacManifest({controllers, signers}: RbacOptions): ApiObject[] {
  const wanted = [
    ...controllers.flatMap((name) => PERMISSIONS[name] ?? []),
    ...(controllers.includes('csr-signer') ? signPermissions(signers) : []),
    ...(controllers.some((name) => FOLLOW_REVOCATIONS.includes(name))
      ? REVOCATION_PERMISSIONS
      : []),
    ...LEADER_PERMISSIONS,
    ...EVENTS,
  ]
  const namespaces = [...new Set(wanted.map(({namespace}) => namespace ?? ''))].sort()
  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: CONTROLLERS_ACCOUNT,
  }
  return [
    {apiVersion: 'v1', kind: 'Namespace', metadata: {name: OWN_NAMESPACE}},
    account,
    ...namespaces.flatMap((namespace) =>
      grant(
        namespace,
        wanted.filter((one) => (one.namespace ?? '') === namespace),
      ),
    ),
  ]
}

/** A role with these rights and its binding: of the whole cluster without a namespace. */
function grant(namespace: string, permissions: readonly Permission[]): ApiObject[] {
  const subjects = [{kind: 'ServiceAccount' as const, ...CONTROLLERS_ACCOUNT}]
  const rules = rulesOf(permissions)
  const apiVersion = `${RBAC}/v1`
  if (namespace === '') {
    const metadata = {name: NAME}
    const role: ClusterRole = {apiVersion, kind: 'ClusterRole', metadata, rules}
    const binding: ClusterRoleBinding = {
      ...{apiVersion, kind: 'ClusterRoleBinding', metadata},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: NAME},
      subjects,
    }
    return [role, binding]
  }
  const metadata = {name: NAME, namespace}
  const role: Role = {apiVersion, kind: 'Role', metadata, rules}
  const binding: RoleBinding = {
    ...{apiVersion, kind: 'RoleBinding', metadata},
    roleRef: {apiGroup: RBAC, kind: 'Role', name: NAME},
    subjects,
  }
  return [role, binding]
}

/** One rule for each resource, or for each object of it that is named, with all its verbs. */
function rulesOf(permissions: readonly Permission[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>()
  for (const {verb, group, resource, subresource, name} of permissions) {
    const full = subresource ? `${resource}/${subresource}` : resource
    const key = [group, full, name ?? ''].join(' ')
    const rule = rules.get(key) ?? {
      apiGroups: [group],
      resources: [full],
      ...(name !== undefined && {resourceNames: [name]}),
      verbs: [],
    }
    if (!rule.verbs.includes(verb)) rule.verbs.push(verb)
    rules.set(key, rule)
  }
  return [...rules.values()]
}
