import type {ApiObject, UserInfo} from '../../../src/api/meta.ts'
import type {AdmissionOperation, AdmissionPlugin} from '../../../src/server/kernel/admission.ts'
import type {Authorize, OperationContext, Resource} from '../../../src/server/kernel/resource.ts'
import {TestClock, objectReader} from '../authn/support.ts'

const resource = (group: string, plural: string, kind: string, namespaced = false): Resource => ({
  group,
  version: 'v1',
  plural,
  singular: kind.toLowerCase(),
  kind,
  namespaced,
  verbs: [],
  type: `${group}/v1.${kind}`,
  strategy: {},
})

const RBAC = 'rbac.authorization.k8s.io'

const RESOURCES = {
  namespaces: resource('', 'namespaces', 'Namespace'),
  pods: resource('', 'pods', 'Pod', true),
  nodes: resource('', 'nodes', 'Node'),
  events: resource('', 'events', 'Event', true),
  configmaps: resource('', 'configmaps', 'ConfigMap', true),
  localsubjectaccessreviews: resource(
    'authorization.k8s.io',
    'localsubjectaccessreviews',
    'LocalSubjectAccessReview',
    true,
  ),
  roles: resource(RBAC, 'roles', 'Role', true),
  clusterroles: resource(RBAC, 'clusterroles', 'ClusterRole'),
  rolebindings: resource(RBAC, 'rolebindings', 'RoleBinding', true),
  clusterrolebindings: resource(RBAC, 'clusterrolebindings', 'ClusterRoleBinding'),
  certificatesigningrequests: resource(
    'certificates.k8s.io',
    'certificatesigningrequests',
    'CertificateSigningRequest',
  ),
}

export interface Situation {
  user?: UserInfo
  namespace?: string
  objects?: Record<string, ApiObject>
  authorize?: Authorize
}

export type Wish = Partial<Omit<AdmissionOperation, 'resource'>> & {
  resource: keyof typeof RESOURCES
}

/** Runs a plugin on an operation; answers the object as the plugin leaves it. */
export async function admit(
  plugin: AdmissionPlugin,
  {resource: plural, ...wish}: Wish,
  situation: Situation = {},
): Promise<ApiObject | undefined> {
  const operation: AdmissionOperation = {
    verb: 'create',
    subresource: '',
    name: '',
    ...wish,
    resource: RESOURCES[plural],
  }
  const context: OperationContext = {
    user: situation.user ?? {username: 'ann', groups: ['system:authenticated']},
    clock: new TestClock(),
    namespace: situation.namespace ?? '',
    name: operation.name,
    subresource: operation.subresource,
    version: 'v1',
    dryRun: false,
    authorize: situation.authorize ?? (() => ({allowed: false, reason: ''})),
    objects: objectReader(new Map(Object.entries(situation.objects ?? {}))),
    warn: () => undefined,
  }
  await plugin.admit?.(operation, context)
  await plugin.validate?.(operation, context)
  return operation.object
}
