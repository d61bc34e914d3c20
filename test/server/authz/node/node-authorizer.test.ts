import assert from 'node:assert/strict'
import {nodeAuthorizer} from '../../../../src/server/authz/node/node-authorizer.ts'
import {NodeGraph} from '../../../../src/server/authz/node/node-graph.ts'
import {ask, user} from '../rbac/support.ts'

const graph = new NodeGraph()
graph.upsertPod({
  metadata: {namespace: 'app', name: 'mine'},
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'runner',
    volumes: [
      {secret: {secretName: 'key'}},
      {configMap: {name: 'settings'}},
      {persistentVolumeClaim: {claimName: 'data'}},
    ],
  },
})
graph.upsertVolume({
  metadata: {name: 'pv'},
  spec: {claimRef: {namespace: 'app', name: 'data'}},
})
const authorize = nodeAuthorizer(graph)
const NODE = user('system:node:n1', 'system:nodes', 'system:authenticated')

/** As `ask`, with `where <field selector>` at the end. */
function asked(text: string) {
  const [question = '', fieldSelector] = text.split(' where ')
  const attributes = ask(question)
  if (fieldSelector !== undefined && attributes.resource !== undefined)
    attributes.resource.fieldSelector = fieldSelector
  return attributes
}

const UNRELATED = "no relationship found between node 'n1' and this object"
const ONLY_INDIVIDUAL = 'can only get individual resources of this type'

describe('nodeAuthorizer', () => {
  const allowed = [
    'get secrets in app named key',
    'list secrets in app named key where metadata.name=key',
    'watch secrets in app named key where metadata.name=key',
    'get configmaps in app named settings',
    'get persistentvolumeclaims in app named data',
    'update persistentvolumeclaims/status in app named data',
    'patch persistentvolumeclaims/status in app named data',
    'get persistentvolumes named pv',
    'get serviceaccounts in app named runner',
    'create serviceaccounts/token in app named runner',
    'get pods in app named mine',
    'watch pods in app named mine where metadata.name=mine',
    'list pods where spec.nodeName=n1',
    'watch pods where spec.nodeName==n1',
    'list pods where status.phase=Running,spec.nodeName=n1',
    'create pods in app',
    'delete pods in app named other',
    'update pods/status in app named other',
    'patch pods/status in app named other',
    'create pods/eviction in app named other',
    'create nodes',
    'update nodes named n2',
    'patch nodes named n2',
    'update nodes/status named n2',
    'patch nodes/status named n2',
    'get nodes named n1',
    'list nodes named n1 where metadata.name=n1',
    'watch nodes named n1 where metadata.name=n1',
    'create coordination.k8s.io/leases in kube-node-lease',
    'get coordination.k8s.io/leases in kube-node-lease named n1',
    'update coordination.k8s.io/leases in kube-node-lease named n1',
    'patch coordination.k8s.io/leases in kube-node-lease named n1',
    'delete coordination.k8s.io/leases in kube-node-lease named n1',
    'create storage.k8s.io/csinodes',
    'get storage.k8s.io/csinodes named n1',
    'update storage.k8s.io/csinodes named n1',
    'delete storage.k8s.io/csinodes named n1',
    'create resource.k8s.io/resourceslices',
    'list resource.k8s.io/resourceslices where spec.nodeName=n1',
    'list services where spec.clusterIP!=None',
    'watch node.k8s.io/runtimeclasses',
    'watch storage.k8s.io/csidrivers',
    'create events in default',
    'patch events.k8s.io/events in default named e',
    'create authentication.k8s.io/tokenreviews',
    'create authorization.k8s.io/subjectaccessreviews',
    'create certificates.k8s.io/certificatesigningrequests',
    'watch certificates.k8s.io/certificatesigningrequests',
  ]
  for (const question of allowed) {
    it(`lets a node ${question}`, () => {
      assert.deepEqual(authorize(NODE, asked(question)), {decision: 'allow', reason: ''})
    })
  }

  const passed: [question: string, reason: string][] = [
    ['get secrets in app named other', UNRELATED],
    ['get secrets in kube-system named key', UNRELATED],
    ['list secrets in app', 'No Object name found'],
    ['list secrets', 'can only read namespaced object of this type'],
    ['update secrets in app named key', 'can only read resources of this type'],
    ['get secrets/status in app named key', 'cannot read subresource'],
    ['get configmaps in app named other', UNRELATED],
    ['watch configmaps in app', 'No Object name found'],
    ['list persistentvolumeclaims in app', ONLY_INDIVIDUAL],
    ['get persistentvolumeclaims in app named other', UNRELATED],
    ['get persistentvolumeclaims/status in app named data', 'can only get/update/patch this type'],
    ['update persistentvolumeclaims/status in app named other', UNRELATED],
    ['update persistentvolumeclaims in app named data', ONLY_INDIVIDUAL],
    ['list persistentvolumes', ONLY_INDIVIDUAL],
    ['get persistentvolumes/status named pv', 'cannot get subresource'],
    ['get storage.k8s.io/volumeattachments named a', UNRELATED],
    ['get resource.k8s.io/resourceclaims in app named r', UNRELATED],
    ['get serviceaccounts in app named other', UNRELATED],
    ['list serviceaccounts in app', 'can only create tokens for individual service accounts'],
    ['create serviceaccounts in app', 'can only create tokens for individual service accounts'],
    [
      'create serviceaccounts in app named runner',
      'can only create token subresource of service account',
    ],
    ['create serviceaccounts/token in app named other', UNRELATED],
    ['get pods in app named other', UNRELATED],
    ['list pods', 'can only list/watch pods with spec.nodeName field selector'],
    [
      'list pods where spec.nodeName=n2',
      'can only list/watch pods with spec.nodeName field selector',
    ],
    [
      'watch pods where spec.nodeName!=n1',
      'can only list/watch pods with spec.nodeName field selector',
    ],
    [
      'list pods where spec.nodeName=n1,what',
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['watch pods in app named other where metadata.name=other', UNRELATED],
    ['deletecollection pods in app', ''],
    ['update pods in app named mine', ''],
    ['create pods/binding in app named mine', ''],
    ['create pods/exec in app named mine', ''],
    ['get pods/log in app named mine', ''],
    ['get nodes named n2', "node 'n1' cannot read 'n2', only its own Node object"],
    ['list nodes', "node 'n1' cannot read all nodes, only its own Node object"],
    ['watch nodes', "node 'n1' cannot read all nodes, only its own Node object"],
    ['delete nodes named n1', ''],
    ['get nodes/proxy named n1', ''],
    [
      'get coordination.k8s.io/leases in kube-node-lease named n2',
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'list coordination.k8s.io/leases in kube-node-lease',
      'can only get, create, update, patch, or delete a node lease',
    ],
    [
      'get coordination.k8s.io/leases in kube-system named n1',
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      'get storage.k8s.io/csinodes named n2',
      'can only access CSINode with the same name as the requesting node',
    ],
    ['list storage.k8s.io/csinodes', 'can only get, create, update, patch, or delete a CSINode'],
    ['get storage.k8s.io/csinodes/status named n1', 'cannot authorize CSINode subresources'],
    ['get resource.k8s.io/resourceslices named s', UNRELATED],
    [
      'list resource.k8s.io/resourceslices',
      'can only list/watch/deletecollection resourceslices with spec.nodeName field selector',
    ],
    ['list namespaces', ''],
    ['get rbac.authorization.k8s.io/clusterroles named cluster-admin', ''],
    ['create rbac.authorization.k8s.io/clusterrolebindings', ''],
    ['update certificates.k8s.io/certificatesigningrequests/approval named c', ''],
    ['delete certificates.k8s.io/certificatesigningrequests named c', ''],
    ['create services in app', ''],
    ['get /metrics', ''],
  ]
  for (const [question, reason] of passed) {
    it(`has no opinion on whether a node may ${question}`, () => {
      assert.deepEqual(authorize(NODE, asked(question)), {decision: 'noOpinion', reason})
    })
  }

  const strangers: [string, ReturnType<typeof user>, string][] = [
    ['a user without the group', user('system:node:n1', 'system:authenticated'), ''],
    ['a member of the group with another name', user('n1', 'system:nodes'), ''],
    [
      'a node without a name',
      user('system:node:', 'system:nodes'),
      'unknown node for user "system:node:"',
    ],
  ]
  for (const [name, who, reason] of strangers) {
    it(`has no opinion on ${name}`, () => {
      assert.deepEqual(authorize(who, ask('get nodes named n1')), {decision: 'noOpinion', reason})
    })
  }
})
