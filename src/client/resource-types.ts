import type {ResourceType} from './resource-client.ts'

/** The resources that are properties of the client. */
export const RESOURCE_TYPES = {
  namespaces: core('namespaces', 'Namespace', false),
  nodes: core('nodes', 'Node', false),
  secrets: core('secrets', 'Secret'),
  configMaps: core('configmaps', 'ConfigMap'),
  serviceAccounts: core('serviceaccounts', 'ServiceAccount'),
  pods: core('pods', 'Pod'),
  services: core('services', 'Service'),
  events: core('events', 'Event'),
  leases: of('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  csrs: of(
    'certificates.k8s.io',
    'v1',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    false,
  ),
  roles: rbac('roles', 'Role'),
  roleBindings: rbac('rolebindings', 'RoleBinding'),
  clusterRoles: rbac('clusterroles', 'ClusterRole', false),
  clusterRoleBindings: rbac('clusterrolebindings', 'ClusterRoleBinding', false),
  subjectAccessReviews: authorization('subjectaccessreviews', 'SubjectAccessReview'),
  localSubjectAccessReviews: of(
    'authorization.k8s.io',
    'v1',
    'localsubjectaccessreviews',
    'LocalSubjectAccessReview',
  ),
  selfSubjectAccessReviews: authorization('selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
  selfSubjectRulesReviews: authorization('selfsubjectrulesreviews', 'SelfSubjectRulesReview'),
  tokenReviews: of('authentication.k8s.io', 'v1', 'tokenreviews', 'TokenReview', false),
  selfSubjectReviews: of(
    'authentication.k8s.io',
    'v1',
    'selfsubjectreviews',
    'SelfSubjectReview',
    false,
  ),
  machines: of('machine.openshift.io', 'v1beta1', 'machines', 'Machine'),
} as const satisfies Record<string, ResourceType>

function of(
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced = true,
): ResourceType {
  return {group, version, plural, kind, namespaced}
}

function core(plural: string, kind: string, namespaced = true): ResourceType {
  return of('', 'v1', plural, kind, namespaced)
}

function rbac(plural: string, kind: string, namespaced = true): ResourceType {
  return of('rbac.authorization.k8s.io', 'v1', plural, kind, namespaced)
}

function authorization(plural: string, kind: string): ResourceType {
  return of('authorization.k8s.io', 'v1', plural, kind, false)
}
