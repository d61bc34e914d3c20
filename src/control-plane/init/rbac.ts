import type {Role, RoleBinding, Subject} from '../../api/rbac.ts'
import {DEFAULT_NODE_GROUP} from '../../bootstrap/token-info.ts'
import {
  EXACTLY,
  ensureObjects,
  planObjects,
  wantedClusterRole,
  wantedClusterRoleBinding,
  wantedRole,
  wantedRoleBinding,
  type RbacUpkeep,
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
  upkeep: RbacUpkeep,
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
  return [wantedRole(role, upkeep), wantedRoleBinding(binding, upkeep)]
}

const bind = (
  name: string,
  role: string,
  subject: Subject,
  upkeep: RbacUpkeep = EXACTLY,
): WantedObject =>
  wantedClusterRoleBinding(
    {
      metadata: {name},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
      subjects: [subject],
    },
    upkeep,
  )

/** Machines find the cluster before they have a login. */
export const discoveryRbac = (upkeep: RbacUpkeep): WantedObject[] =>
  readOne(
    'kube-public',
    'kubeadm:bootstrap-signer-clusterinfo',
    ['configmaps', 'cluster-info'],
    [ANONYMOUS],
    upkeep,
  )

/** The next machine of the control plane reads the CAs before it has a login of its own. */
export const certsRbac = (upkeep: RbacUpkeep): WantedObject[] =>
  readOne(
    'kube-system',
    'kubeadm:kubeadm-certs',
    ['secrets', 'kubeadm-certs'],
    [BOOTSTRAPPERS],
    upkeep,
  )

/** All that a machine may do before it is a node. The names are kubeadm's, so that kubeadm finds them. */
export const joinRbac = (upkeep: RbacUpkeep): WantedObject[] => [
  ...discoveryRbac(upkeep),
  ...readOne(
    'kube-system',
    'kubeadm:nodes-kubeadm-config',
    ['configmaps', 'kubeadm-config'],
    [BOOTSTRAPPERS, NODES],
    upkeep,
  ),
  ...readOne(
    'kube-system',
    'kubeadm:kubelet-config',
    ['configmaps', 'kubelet-config'],
    [NODES, BOOTSTRAPPERS],
    upkeep,
  ),
  ...certsRbac(upkeep),
  wantedClusterRole(
    {
      metadata: {name: 'kubeadm:get-nodes'},
      rules: [{verbs: ['get'], apiGroups: [''], resources: ['nodes']}],
    },
    upkeep,
  ),
  bind('kubeadm:get-nodes', 'kubeadm:get-nodes', BOOTSTRAPPERS, upkeep),
  bind('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', BOOTSTRAPPERS, upkeep),
  bind('kubeadm:node-autoapprove-bootstrap', `${REQUESTS}:nodeclient`, BOOTSTRAPPERS, upkeep),
  bind(
    'kubeadm:node-autoapprove-certificate-rotation',
    `${REQUESTS}:selfnodeclient`,
    NODES,
    upkeep,
  ),
]

export const JOIN_RBAC: readonly WantedObject[] = joinRbac(EXACTLY)

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
