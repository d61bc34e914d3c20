import type {Role, RoleBinding, Subject} from '../../api/rbac.ts'
import {DEFAULT_NODE_GROUP} from '../../bootstrap/groups.ts'
import {
  ensureObjects,
  planObjects,
  wantedClusterRole,
  wantedClusterRoleBinding,
  wantedRole,
  wantedRoleBinding,
  type WantedObject,
} from './objects.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'

const RBAC = 'rbac.authorization.k8s.io'
const REQUESTS = 'system:certificates.k8s.io:certificatesigningrequests'

const group = (name: string): Subject => ({apiGroup: RBAC, kind: 'Group', name})
const user = (name: string): Subject => ({apiGroup: RBAC, kind: 'User', name})
const BOOTSTRAPPERS = group(DEFAULT_NODE_GROUP)
const NODES = group('system:nodes')
const ANONYMOUS = user('system:anonymous')

/** Lets these subjects read one object, with a Role and a RoleBinding of the same name. */
function readOne(
  namespace: string,
  name: string,
  [resource, resourceName]: readonly [string, string],
  subjects: Subject[],
): WantedObject[] {
  const metadata = {name, namespace}
  const rules = [
    {verbs: ['get'], apiGroups: [''], resources: [resource], resourceNames: [resourceName]},
  ]
  const role: Role = {metadata, rules}
  const binding: RoleBinding = {
    metadata,
    roleRef: {apiGroup: RBAC, kind: 'Role', name},
    subjects,
  }
  return [wantedRole(role), wantedRoleBinding(binding)]
}

const bind = (name: string, role: string, subject: Subject): WantedObject =>
  wantedClusterRoleBinding({
    metadata: {name},
    roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
    subjects: [subject],
  })

/** All that a machine may do before it is a node. The names are kubeadm's, so that kubeadm finds them. */
export const JOIN_RBAC: readonly WantedObject[] = [
  ...readOne(
    'kube-public',
    'kubeadm:bootstrap-signer-clusterinfo',
    ['configmaps', 'cluster-info'],
    [ANONYMOUS],
  ),
  ...readOne(
    'kube-system',
    'kubeadm:nodes-kubeadm-config',
    ['configmaps', 'kubeadm-config'],
    [BOOTSTRAPPERS, NODES],
  ),
  ...readOne(
    'kube-system',
    'kubeadm:kubelet-config',
    ['configmaps', 'kubelet-config'],
    [NODES, BOOTSTRAPPERS],
  ),
  ...readOne('kube-system', 'kubeadm:kubeadm-certs', ['secrets', 'kubeadm-certs'], [BOOTSTRAPPERS]),
  wantedClusterRole({
    metadata: {name: 'kubeadm:get-nodes'},
    rules: [{verbs: ['get'], apiGroups: [''], resources: ['nodes']}],
  }),
  bind('kubeadm:get-nodes', 'kubeadm:get-nodes', BOOTSTRAPPERS),
  bind('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', BOOTSTRAPPERS),
  bind('kubeadm:node-autoapprove-bootstrap', `${REQUESTS}:nodeclient`, BOOTSTRAPPERS),
  bind('kubeadm:node-autoapprove-certificate-rotation', `${REQUESTS}:selfnodeclient`, NODES),
]

/** What kubeadm binds on every cluster, with or without bootstrap tokens. */
const BINDINGS: readonly WantedObject[] = [
  bind('kubeadm:cluster-admins', 'cluster-admin', group('kubeadm:cluster-admins')),
  bind(
    'kubeadm:apiserver-kubelet-client',
    'system:kubelet-api-admin',
    user('kube-apiserver-kubelet-client'),
  ),
]

export const rbac: InitPhase = {
  name: 'rbac',
  summary: 'grant the administrators their rights',

  plan: (context) =>
    planAsAdmin(
      context,
      BINDINGS.map(({name}) => `create the ${name}`),
      (client) => planObjects(client, BINDINGS),
    ),

  run: (context) =>
    asAdmin(context, async (client) => {
      await ensureObjects(client, BINDINGS, context.tell)
    }),
}
