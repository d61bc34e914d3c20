import assert from 'node:assert/strict'
import {Agent} from 'node:https'
import {startTestServer, type Credentials, type TestServer} from '../../../helpers/test-server.ts'
import {get1} from '../../http/support.ts'
import {encoded, requestPem} from '../../resources/certificates.ts'
import {Api, type AnyBody} from '../../support.ts'

const APP = '/api/v1/namespaces/app'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const STRATEGIC = 'application/strategic-merge-patch+json'
const UNRELATED = "no relationship found between node 'n1' and this object"

const container = {name: 'c', image: 'i'}

/** What a node finds when it comes: pods on it and on another node, and what they need. */
async function furnish(admin: Api): Promise<void> {
  const make = async (path: string, body: object) => {
    const {status, text} = await admin.post(path, body)
    assert.equal(status, 201, text)
  }
  await make('/api/v1/namespaces', {metadata: {name: 'app'}})
  for (const name of ['key', 'foreign', 'volume-key']) {
    await make(`${APP}/secrets`, {metadata: {name}})
    await make(`${APP}/configmaps`, {metadata: {name}})
  }
  for (const name of ['runner', 'stranger'])
    await make(`${APP}/serviceaccounts`, {metadata: {name}})
  await make('/api/v1/nodes', {metadata: {name: 'n2'}})
  const claim = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}}
  for (const name of ['data', 'foreign'])
    await make(`${APP}/persistentvolumeclaims`, {metadata: {name}, spec: claim})
  await make('/api/v1/persistentvolumes', {
    metadata: {name: 'pv'},
    spec: {
      capacity: {storage: '1Gi'},
      accessModes: ['ReadWriteOnce'],
      claimRef: {namespace: 'app', name: 'data'},
      csi: {
        driver: 'd',
        volumeHandle: 'h',
        nodeStageSecretRef: {namespace: 'app', name: 'volume-key'},
      },
    },
  })
  const spec = {serviceAccountName: 'runner', automountServiceAccountToken: false}
  await make(`${APP}/pods`, {
    metadata: {name: 'mine'},
    spec: {
      ...spec,
      nodeName: 'n1',
      containers: [container],
      volumes: [
        {name: 'a', secret: {secretName: 'key'}},
        {name: 'b', secret: {secretName: 'not-there-yet'}},
        {name: 'c', configMap: {name: 'key'}},
        {name: 'd', persistentVolumeClaim: {claimName: 'data'}},
      ],
    },
  })
  await make(`${APP}/pods`, {
    metadata: {name: 'theirs'},
    spec: {
      serviceAccountName: 'stranger',
      automountServiceAccountToken: false,
      nodeName: 'n2',
      containers: [container],
      volumes: [{name: 'a', secret: {secretName: 'foreign'}}],
    },
  })
}

describe('a node, over HTTP with its own certificate', () => {
  let server: TestServer
  let credentials: Credentials
  let agent: Agent
  let ownRequest: string
  let otherRequest: string

  before(async () => {
    server = await startTestServer({controllers: false})
    await furnish(new Api(server.handler))
    credentials = await server.credentialsFor('system:node:n1', ['system:nodes'])
    agent = new Agent({keepAlive: true})
    const groups = {organizations: ['system:nodes']}
    ownRequest = encoded(await requestPem({commonName: 'system:node:n1', ...groups}))
    otherRequest = encoded(await requestPem({commonName: 'system:node:n2', ...groups}))
  })

  after(async () => {
    agent.destroy()
    await server.stop()
  })

  async function call(line: string, body?: object) {
    const [method = '', path = ''] = line.split(' ')
    const type = method === 'PATCH' ? STRATEGIC : 'application/json'
    const answer = await get1(server, path, {
      method,
      credentials,
      agent,
      headers: {'content-type': type},
      ...(body === undefined ? {} : {body: JSON.stringify(body)}),
    })
    return {status: answer.status, body: JSON.parse(answer.text) as AnyBody}
  }

  const csr = (request: string, usage: string, signer: string) => ({
    metadata: {generateName: 'csr-'},
    spec: {
      request,
      signerName: `kubernetes.io/${signer}`,
      usages: ['digital signature', usage],
    },
  })

  // In the order in which a kubelet comes to do them.
  const allowed: [line: string, status: number, body?: () => object][] = [
    ['GET /api/v1/nodes/n1', 404],
    [
      'POST /api/v1/nodes',
      201,
      () => ({
        metadata: {
          name: 'n1',
          labels: {'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux', mine: 'yes'},
        },
        spec: {taints: [{key: 'dedicated', effect: 'NoSchedule'}]},
        status: {addresses: [{type: 'InternalIP', address: '192.0.2.7'}]},
      }),
    ],
    ['GET /api/v1/nodes/n1', 200],
    ['GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1', 200],
    ['PATCH /api/v1/nodes/n1', 200, () => ({metadata: {labels: {mine: 'no'}}})],
    [
      'PATCH /api/v1/nodes/n1/status',
      200,
      () => ({status: {conditions: [{type: 'Ready', status: 'True'}]}}),
    ],
    [`GET ${LEASES}/n1`, 404],
    [`POST ${LEASES}`, 201, () => ({metadata: {name: 'n1'}, spec: {holderIdentity: 'n1'}})],
    [`GET ${LEASES}/n1`, 200],
    [`PATCH ${LEASES}/n1`, 200, () => ({spec: {leaseDurationSeconds: 40}})],
    ['GET /apis/storage.k8s.io/v1/csinodes/n1', 404],
    [
      'POST /apis/storage.k8s.io/v1/csinodes',
      201,
      () => ({metadata: {name: 'n1'}, spec: {drivers: []}}),
    ],
    ['GET /apis/storage.k8s.io/v1/csinodes/n1', 200],
    ['GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1', 200],
    ['GET /api/v1/services?fieldSelector=spec.clusterIP%21%3DNone', 200],
    ['GET /apis/node.k8s.io/v1/runtimeclasses', 200],
    ['GET /apis/storage.k8s.io/v1/csidrivers', 200],
    [`GET ${APP}/pods/mine`, 200],
    [`GET ${APP}/secrets/key`, 200],
    [`GET ${APP}/secrets?fieldSelector=metadata.name%3Dkey`, 200],
    [`GET ${APP}/secrets/volume-key`, 200],
    // A path is enough, there or not.
    [`GET ${APP}/secrets/not-there-yet`, 404],
    [`GET ${APP}/configmaps/key`, 200],
    [`GET ${APP}/serviceaccounts/runner`, 200],
    [`GET ${APP}/persistentvolumeclaims/data`, 200],
    ['GET /api/v1/persistentvolumes/pv', 200],
    [`PATCH ${APP}/pods/mine/status`, 200, () => ({status: {phase: 'Running'}})],
    [
      `PATCH ${APP}/persistentvolumeclaims/data/status`,
      200,
      () => ({status: {capacity: {storage: '1Gi'}}}),
    ],
    [
      'POST /api/v1/namespaces/default/events',
      201,
      () => ({
        metadata: {name: 'e'},
        involvedObject: {kind: 'Node', name: 'n1'},
        reason: 'Starting',
        source: {component: 'kubelet', host: 'n1'},
      }),
    ],
    ['POST /apis/authentication.k8s.io/v1/tokenreviews', 201, () => ({spec: {token: 'nobody-s'}})],
    [
      'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
      201,
      () => ({
        spec: {
          user: 'ann',
          resourceAttributes: {verb: 'get', resource: 'nodes', subresource: 'metrics', name: 'n1'},
        },
      }),
    ],
    [`POST ${CSRS}`, 201, () => csr(ownRequest, 'client auth', 'kube-apiserver-client-kubelet')],
    [`GET ${CSRS}`, 200],
    ['GET /version', 200],
    ['GET /api', 200],
    ['GET /api/v1', 200],
    [`DELETE ${APP}/pods/mine?gracePeriodSeconds=0`, 200],
  ]

  it('does what a kubelet does', async () => {
    for (const [line, status, body] of allowed) {
      const answer = await call(line, body?.())
      assert.equal(answer.status, status, `${line}: ${JSON.stringify(answer.body)}`)
    }
  })

  it('has lost what a pod needed once the pod is gone', async () => {
    const {status, body} = await call(`GET ${APP}/secrets/key`)
    assert.equal(status, 403)
    assert.equal(
      body.message,
      `secrets "key" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "app": ${UNRELATED}`,
    )
  })

  const cannot = (what: string, group: string, where: string) =>
    `User "system:node:n1" cannot ${what} in API group "${group}" ${where}`
  const inApp = 'in the namespace "app"'
  const everywhere = 'at the cluster scope'

  const refused: [line: string, message: string, body?: () => object][] = [
    [
      'GET /api/v1/nodes/n2',
      `nodes "n2" is forbidden: ${cannot('get resource "nodes"', '', everywhere)}: node 'n1' cannot read 'n2', only its own Node object`,
    ],
    [
      'GET /api/v1/nodes',
      `nodes is forbidden: ${cannot('list resource "nodes"', '', everywhere)}: node 'n1' cannot read all nodes, only its own Node object`,
    ],
    [
      'DELETE /api/v1/nodes/n1',
      `nodes "n1" is forbidden: ${cannot('delete resource "nodes"', '', everywhere)}`,
    ],
    [
      `GET ${APP}/secrets/foreign`,
      `secrets "foreign" is forbidden: ${cannot('get resource "secrets"', '', inApp)}: ${UNRELATED}`,
    ],
    [
      `GET ${APP}/secrets`,
      `secrets is forbidden: ${cannot('list resource "secrets"', '', inApp)}: No Object name found`,
    ],
    [
      'GET /api/v1/secrets',
      `secrets is forbidden: ${cannot('list resource "secrets"', '', everywhere)}: can only read namespaced object of this type`,
    ],
    [
      `POST ${APP}/secrets`,
      `secrets is forbidden: ${cannot('create resource "secrets"', '', inApp)}: can only read resources of this type`,
      () => ({metadata: {name: 'x'}}),
    ],
    [
      `GET ${APP}/configmaps/foreign`,
      `configmaps "foreign" is forbidden: ${cannot('get resource "configmaps"', '', inApp)}: ${UNRELATED}`,
    ],
    [
      `GET ${APP}/pods/theirs`,
      `pods "theirs" is forbidden: ${cannot('get resource "pods"', '', inApp)}: ${UNRELATED}`,
    ],
    [
      'GET /api/v1/pods',
      `pods is forbidden: ${cannot('list resource "pods"', '', everywhere)}: can only list/watch pods with spec.nodeName field selector`,
    ],
    [
      'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn2',
      `pods is forbidden: ${cannot('list resource "pods"', '', everywhere)}: can only list/watch pods with spec.nodeName field selector`,
    ],
    [
      `GET ${APP}/persistentvolumeclaims`,
      `persistentvolumeclaims is forbidden: ${cannot('list resource "persistentvolumeclaims"', '', inApp)}: can only get individual resources of this type`,
    ],
    [
      `GET ${LEASES}/n2`,
      `leases.coordination.k8s.io "n2" is forbidden: ${cannot('get resource "leases"', 'coordination.k8s.io', 'in the namespace "kube-node-lease"')}: can only access node lease with the same name as the requesting node`,
    ],
    [
      'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/n1',
      `leases.coordination.k8s.io "n1" is forbidden: ${cannot('get resource "leases"', 'coordination.k8s.io', 'in the namespace "kube-system"')}: can only access leases in the "kube-node-lease" system namespace`,
    ],
    [
      `GET ${APP}/serviceaccounts/stranger`,
      `serviceaccounts "stranger" is forbidden: ${cannot('get resource "serviceaccounts"', '', inApp)}: ${UNRELATED}`,
    ],
    [
      `POST ${APP}/serviceaccounts/stranger/token`,
      `serviceaccounts "stranger" is forbidden: ${cannot('create resource "serviceaccounts/token"', '', inApp)}: ${UNRELATED}`,
      () => ({spec: {}}),
    ],
    [
      'GET /api/v1/namespaces',
      `namespaces is forbidden: ${cannot('list resource "namespaces"', '', everywhere)}`,
    ],
    [
      'GET /apis/rbac.authorization.k8s.io/v1/clusterroles',
      `clusterroles.rbac.authorization.k8s.io is forbidden: ${cannot('list resource "clusterroles"', 'rbac.authorization.k8s.io', everywhere)}`,
    ],
    [
      `PUT ${CSRS}/any/approval`,
      `certificatesigningrequests.certificates.k8s.io "any" is forbidden: ${cannot('update resource "certificatesigningrequests/approval"', 'certificates.k8s.io', everywhere)}`,
      () => ({}),
    ],
    [
      `DELETE ${CSRS}/any`,
      `certificatesigningrequests.certificates.k8s.io "any" is forbidden: ${cannot('delete resource "certificatesigningrequests"', 'certificates.k8s.io', everywhere)}`,
    ],
    ['GET /metrics', 'forbidden: User "system:node:n1" cannot get path "/metrics"'],
    // By its rights it may; by what it wants to write it may not.
    [
      'POST /api/v1/nodes',
      'nodes "n3" is forbidden: node "n1" is not allowed to modify node "n3"',
      () => ({metadata: {name: 'n3'}}),
    ],
    [
      'PATCH /api/v1/nodes/n2/status',
      'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
      () => ({status: {conditions: [{type: 'Ready', status: 'False'}]}}),
    ],
    [
      'PATCH /api/v1/nodes/n1',
      'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
      () => ({spec: {taints: [{$patch: 'replace'}]}}),
    ],
    [
      `DELETE ${APP}/pods/theirs`,
      'pods "theirs" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
    ],
    [
      `PATCH ${APP}/pods/theirs/status`,
      'pods "theirs" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
      () => ({status: {phase: 'Failed'}}),
    ],
    [
      `POST ${LEASES}`,
      'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
      () => ({metadata: {name: 'n2'}}),
    ],
    [
      'POST /apis/storage.k8s.io/v1/csinodes',
      'csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node',
      () => ({metadata: {name: 'n2'}, spec: {drivers: []}}),
    ],
    [
      `POST ${CSRS}`,
      'certificatesigningrequests.certificates.k8s.io "csr-" is forbidden: can only create a node CSR with CN=system:node:n1',
      () => csr(otherRequest, 'client auth', 'kube-apiserver-client-kubelet'),
    ],
  ]
  for (const [line, message, body] of refused) {
    it(`is refused ${line}`, async () => {
      const answer = await call(line, body?.())
      assert.deepEqual(
        {status: answer.status, message: answer.body.message},
        {status: 403, message},
      )
    })
  }

  it('gets no rights by its name alone', async () => {
    const alone = await server.credentialsFor('system:node:n1', [])
    const answer = await get1(server, '/api/v1/nodes/n1', {credentials: alone})
    assert.equal(answer.status, 403)
    const strangers = await server.credentialsFor('n1', ['system:nodes'])
    assert.equal((await get1(server, '/api/v1/nodes/n1', {credentials: strangers})).status, 403)
  })
})
