import type {ResourceAttributes} from '../api/authorization.ts'
import type {ApiClient} from '../client/api-client.ts'
import {
  BOOTSTRAPPER,
  BOOTSTRAPPER_NAMESPACE,
  BOOTSTRAPPER_SECRET,
  BUNDLE_NAME,
} from '../csr/bootstrapper.ts'
import {KUBELET_CLIENT, KUBELET_SERVING} from '../csr/signers.ts'
import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {REVOCATION_NAMESPACE} from '../trust/revocations.ts'

/** A right that a controller cannot do without. */
export interface Permission extends ResourceAttributes {
  verb: string
  group: string
  resource: string
}

const CERTIFICATES = 'certificates.k8s.io'
const CSRS = 'certificatesigningrequests'
const SIGNERS = 'signers'

type Place = Pick<ResourceAttributes, 'namespace' | 'name' | 'subresource'>

const may = (verbs: string, group: string, resource: string, place: Place = {}): Permission[] =>
  verbs.split(',').map((verb) => ({verb, group, resource, ...place}))

const onSigner = (verb: string, name: string): Permission[] =>
  may(verb, CERTIFICATES, SIGNERS, {name})

/** The leases for leader election. */
export const LEADER_PERMISSIONS: readonly Permission[] = may(
  'get,create,update',
  'coordination.k8s.io',
  'leases',
  {namespace: OWN_NAMESPACE},
)

/** What else the signer needs depends on the signers that it signs for. */
export const signPermissions = (signers: Iterable<string>): Permission[] =>
  [...signers].flatMap((signer) => onSigner('sign', signer))

/** What approvers need to follow the list of revoked certificates. */
export const REVOCATION_PERMISSIONS: readonly Permission[] = may('list,watch', '', 'configmaps', {
  namespace: REVOCATION_NAMESPACE,
})

/** Needed even if there are no Machines: without this right the server says "forbidden", not that there are none. */
const MACHINES = may('list,watch', 'machine.openshift.io', 'machines')

/** What shows whether a bootstrap credential is live; without it, no request of the bootstrapper is approved. */
const CREDENTIALS: readonly Permission[] = [
  ...may('get', '', 'configmaps', {namespace: 'kube-system', name: BUNDLE_NAME}),
  ...may('get', '', 'secrets', {namespace: BOOTSTRAPPER_NAMESPACE, name: BOOTSTRAPPER_SECRET}),
]

/** The approvers' first start carries over the records that earlier releases kept in Leases. */
const CARRY_OVER: readonly Permission[] = [
  ...may('list,update', 'coordination.k8s.io', 'leases', {namespace: 'kube-system'}),
  ...may('get,create,update', 'coordination.k8s.io', 'leases', {namespace: OWN_NAMESPACE}),
]

/** What the controllers that work with any cluster need there, without what is optional, such as Events. */
export const PERMISSIONS: Readonly<Record<string, readonly Permission[]>> = {
  'csr-approver': [
    ...may('get,list,watch', CERTIFICATES, CSRS),
    ...may('update', CERTIFICATES, CSRS, {subresource: 'approval'}),
    ...onSigner('approve', KUBELET_CLIENT),
    ...may('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    ...may('get,list,watch', '', 'nodes'),
    ...may('get,list,watch,create,update', '', 'configmaps', {namespace: OWN_NAMESPACE}),
    ...CARRY_OVER,
    ...MACHINES,
  ],
  'kubelet-serving-approver': [
    ...may('get,list,watch', CERTIFICATES, CSRS),
    ...may('update', CERTIFICATES, CSRS, {subresource: 'approval'}),
    ...onSigner('approve', KUBELET_SERVING),
    ...may('list,watch', '', 'nodes'),
    ...may('get', '', 'services', {namespace: 'default', name: 'kubernetes'}),
    ...may('get', '', 'configmaps', {namespace: 'kube-system', name: 'kubeadm-config'}),
    ...may('get', '', 'configmaps', {namespace: OWN_NAMESPACE}),
    ...may('list', 'discovery.k8s.io', 'endpointslices', {namespace: 'default'}),
    ...may('list', 'networking.k8s.io', 'servicecidrs'),
    ...MACHINES,
  ],
  'machine-approver': [
    ...may('get,list,watch', CERTIFICATES, CSRS),
    ...may('update', CERTIFICATES, CSRS, {subresource: 'approval'}),
    ...onSigner('approve', KUBELET_CLIENT),
    ...may('get', '', 'nodes'),
    ...may('get,create,update', '', 'configmaps', {namespace: OWN_NAMESPACE}),
    ...CARRY_OVER,
    ...CREDENTIALS,
    ...MACHINES,
  ],
  'node-link': [
    ...may('list,watch', '', 'nodes'),
    ...MACHINES,
    ...may('patch', 'machine.openshift.io', 'machines', {subresource: 'status'}),
  ],
  'csr-signer': [
    ...may('get,list,watch', CERTIFICATES, CSRS),
    ...may('update', CERTIFICATES, CSRS, {subresource: 'status'}),
  ],
  'csr-cleaner': may('list,delete', CERTIFICATES, CSRS),
  'node-record-cleaner': [
    ...may('list,delete', '', 'configmaps', {namespace: OWN_NAMESPACE}),
    ...may('get', '', 'nodes'),
  ],
  'bootstrap-signer': [
    ...may('list,watch', '', 'secrets', {namespace: 'kube-system'}),
    ...may('list,watch', '', 'configmaps', {namespace: 'kube-public'}),
    ...may('update', '', 'configmaps', {namespace: 'kube-public', name: 'cluster-info'}),
  ],
  'bootstrap-token-keeper': [
    ...may('get,list,watch', '', 'secrets', {
      namespace: BOOTSTRAPPER_NAMESPACE,
      name: BOOTSTRAPPER_SECRET,
    }),
    ...may('create', '', 'secrets', {namespace: BOOTSTRAPPER_NAMESPACE}),
    ...may('get,list,watch', '', 'serviceaccounts', {
      namespace: BOOTSTRAPPER_NAMESPACE,
      name: BOOTSTRAPPER,
    }),
  ],
  'token-cleaner': may('list,watch,delete', '', 'secrets', {namespace: 'kube-system'}),
}

/** As admission asks for signers: by name, then by all of a domain. */
function waysToHave(permission: Permission): Permission[] {
  const {resource, name = ''} = permission
  if (resource !== SIGNERS) return [permission]
  return [permission, {...permission, name: `${name.split('/')[0] ?? ''}/*`}]
}

/** The permissions that the caller lacks, according to the server. */
export async function missingPermissions(
  {selfSubjectAccessReviews}: Pick<ApiClient, 'selfSubjectAccessReviews'>,
  wanted: readonly Permission[],
): Promise<Permission[]> {
  const isAllowed = async (permission: Permission): Promise<boolean> => {
    for (const resourceAttributes of waysToHave(permission)) {
      const review = {metadata: {}, spec: {resourceAttributes}}
      const {status} = await selfSubjectAccessReviews.create(review)
      if (status?.allowed) return true
    }
    return false
  }
  const answers = await Promise.all(wanted.map(isAllowed))
  return wanted.filter((_permission, index) => !answers[index])
}

/** For people: `update certificatesigningrequests.certificates.k8s.io/status`. */
export function formatPermission(permission: Permission): string {
  const {verb, group, resource, subresource, name, namespace} = permission
  const what = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return [verb, what, name && `"${name}"`, namespace && `in ${namespace}`].filter(Boolean).join(' ')
}
