import type {SelfSubjectReview, TokenReview} from '../api/authentication.ts'
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../api/authorization.ts'
import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {Lease} from '../api/coordination.ts'
import type {ConfigMap, Event, Namespace, Secret, ServiceAccount} from '../api/core.ts'
import type {Machine} from '../api/machine.ts'
import type {ApiObject} from '../api/meta.ts'
import type {Node} from '../api/node.ts'
import type {Pod} from '../api/pod.ts'
import type {ClusterRole, ClusterRoleBinding, Role, RoleBinding} from '../api/rbac.ts'
import type {Service} from '../api/service.ts'
import {parseCertificateDer} from '../pki/certificate.ts'
import type {SubjectNames} from '../pki/subject-names.ts'
import {ApiCaller, type CallerOptions} from './api-call.ts'
import type {CallOptions, ResourceClient, ResourceType} from './resource-client.ts'
import {RestResourceClient} from './rest-resource-client.ts'
import type {Transport} from './transport.ts'

/** The resources that are properties of the client. */
const RESOURCE_TYPES = {
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

/** The kind behind each name in RESOURCE_TYPES. */
interface Kinds {
  namespaces: Namespace
  nodes: Node
  secrets: Secret
  configMaps: ConfigMap
  serviceAccounts: ServiceAccount
  pods: Pod
  services: Service
  events: Event
  leases: Lease
  csrs: CertificateSigningRequest
  roles: Role
  roleBindings: RoleBinding
  clusterRoles: ClusterRole
  clusterRoleBindings: ClusterRoleBinding
  subjectAccessReviews: SubjectAccessReview
  localSubjectAccessReviews: LocalSubjectAccessReview
  selfSubjectAccessReviews: SelfSubjectAccessReview
  selfSubjectRulesReviews: SelfSubjectRulesReview
  tokenReviews: TokenReview
  selfSubjectReviews: SelfSubjectReview
  machines: Machine
}

type NamedResources = {
  readonly [Name in keyof typeof RESOURCE_TYPES]: ResourceClient<Kinds[Name]>
}

/** A typed client of a Kubernetes API server. */
export interface ApiClient extends NamedResources {
  /** A resource that has no name of its own here. */
  resource<T extends ApiObject>(type: ResourceType): ResourceClient<T>
  /** GETs a path that is no resource, as `kubectl get --raw`. */
  raw(path: string, options?: CallOptions): Promise<string>
  version(options?: CallOptions): Promise<ServerVersion>
  /** The names in the certificate by which the server was known; undefined before its first answer. */
  serverNames(): Readonly<SubjectNames> | undefined
  /** Lets go of all connections. */
  close(): Promise<void>
}

interface ServerVersion {
  major: string
  minor: string
  gitVersion: string
  [field: string]: unknown
}

export interface ApiClientOptions extends CallerOptions {
  /** For namespaced objects that do not say theirs. */
  namespace?: string | undefined
}

export function createApiClient(transport: Transport, options: ApiClientOptions = {}): ApiClient {
  const caller = new ApiCaller(transport, options)
  const namespace = options.namespace ?? 'default'
  const resource = <T extends ApiObject>(type: ResourceType) =>
    new RestResourceClient<T>(caller, type, namespace)
  const named = Object.fromEntries(
    Object.entries(RESOURCE_TYPES).map(([name, type]) => [name, resource(type)]),
  ) as unknown as NamedResources
  return {
    ...named,
    resource,
    raw: async (target, {signal} = {}) => {
      const {pathname: path, searchParams: query} = new URL(target, 'https://server')
      return await caller.text({method: 'GET', path, query, signal})
    },
    version: async ({signal} = {}) =>
      (await caller.json({method: 'GET', path: '/version', signal})) as ServerVersion,
    serverNames: () => {
      const certificate = transport.serverCertificate()
      return certificate && parseCertificateDer(certificate).names
    },
    close: () => caller.close(),
  }
}

/** Whether a version is that of trustadm's own server: it does some things that Kubernetes does not. */
export const isOwnVersion = (gitVersion: string): boolean => gitVersion.includes('+trustadm.')

/** Whether the server is trustadm's own, as it says itself. */
export async function isOwnServer(client: Pick<ApiClient, 'version'>): Promise<boolean> {
  const {gitVersion} = await client.version()
  return isOwnVersion(gitVersion)
}
