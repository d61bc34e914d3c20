import assert from 'node:assert/strict'
import {encoded, requestPem} from '../../resources/certificates.ts'
import {APP, assertRefused, make, setStage, type Stage} from './support.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const CSINODES = '/apis/storage.k8s.io/v1/csinodes'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

describe("NodeRestriction, of a node's own objects", () => {
  let stage: Stage

  before(async () => {
    stage = await setStage()
  })
  after(() => stage.stop())

  it('lets a node keep its lease, by PUT too, and no other', async () => {
    const own = await make(stage.node, LEASES, {metadata: {name: 'mynode'}})
    const spec = {holderIdentity: 'mynode'}
    assert.equal((await stage.node.put(`${LEASES}/mynode`, {...own, spec})).status, 200)
    assert.equal((await stage.node.delete(`${LEASES}/mynode`)).status, 200)
    const why = 'can only access node lease with the same name as the requesting node'
    assertRefused(await stage.node.post(LEASES, {metadata: {name: 'othernode'}}), why)
    assertRefused(await stage.node.post(LEASES, {metadata: {generateName: 'mynode'}}), why)
  })

  it('lets a node keep its CSINode, and no other', async () => {
    const spec = {drivers: []}
    await make(stage.node, CSINODES, {metadata: {name: 'mynode'}, spec})
    assertRefused(
      await stage.node.post(CSINODES, {metadata: {name: 'othernode'}, spec}),
      'can only access CSINode with the same name as the requesting node',
    )
  })

  it('keeps leases of the control plane out of reach, where a role gives the right to write them', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await make(stage.admin, `${rbac}/clusterroles`, {
      metadata: {name: 'leases'},
      rules: [
        {apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*']},
        {apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['*']},
      ],
    })
    await make(stage.admin, `${rbac}/clusterrolebindings`, {
      metadata: {name: 'leases'},
      roleRef: {kind: 'ClusterRole', name: 'leases'},
      subjects: [{kind: 'Group', name: 'system:nodes'}],
    })
    assertRefused(
      await stage.node.post('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
        metadata: {name: 'mynode'},
      }),
      'can only access leases in the "kube-node-lease" system namespace',
    )
    assertRefused(
      await stage.node.post(`${APP}/persistentvolumeclaims`, {metadata: {name: 'x'}}),
      'may only update PVC status',
    )
  })
})

describe('NodeRestriction, of claims', () => {
  let stage: Stage

  before(async () => {
    stage = await setStage()
    await make(stage.admin, `${APP}/persistentvolumeclaims`, {
      metadata: {name: 'data'},
      spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
    })
    await make(stage.admin, `${APP}/pods`, {
      metadata: {name: 'mine'},
      spec: {
        nodeName: 'mynode',
        containers: [{name: 'c', image: 'i'}],
        volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
      },
    })
  })
  after(() => stage.stop())

  it('lets a node write how big a volume has become', async () => {
    const status = {
      capacity: {storage: '2Gi'},
      conditions: [{type: 'FileSystemResizePending', status: 'True'}],
    }
    const path = `${APP}/persistentvolumeclaims/data/status`
    assert.equal((await stage.node.patch(path, {status})).status, 200)
  })

  const only =
    'node "mynode" is not allowed to update fields other than status.capacity and status.conditions: '
  const refused: [name: string, change: object, changed: string][] = [
    ['the phase', {status: {phase: 'Lost'}}, 'status.phase'],
    ['labels', {metadata: {labels: {a: 'b'}}}, 'metadata.labels'],
    ['finalizers', {metadata: {finalizers: ['example.com/x']}}, 'metadata.finalizers'],
    ['the volume', {spec: {volumeName: 'pv'}}, 'spec.volumeName'],
  ]
  for (const [name, change, changed] of refused) {
    it(`refuses ${name}`, async () => {
      assertRefused(
        await stage.node.patch(`${APP}/persistentvolumeclaims/data/status`, change),
        only + changed,
      )
    })
  }
})

describe('NodeRestriction, of certificate requests', () => {
  let stage: Stage
  let own: string
  let other: string

  before(async () => {
    stage = await setStage()
    const groups = {organizations: ['system:nodes']}
    own = await requestPem({commonName: 'system:node:mynode', ...groups})
    other = await requestPem({commonName: 'system:node:othernode', ...groups})
  })
  after(() => stage.stop())

  const ask = (pem: string, signer: string, usage: string, path = CSRS) =>
    stage.node.post(path, {
      metadata: {generateName: 'csr-'},
      spec: {
        request: encoded(pem),
        signerName: signer,
        usages: ['digital signature', usage],
      },
    })

  const kubeletSigners = [
    ['kubernetes.io/kubelet-serving', 'server auth'],
    ['kubernetes.io/kube-apiserver-client-kubelet', 'client auth'],
  ] as const
  for (const [signer, usage] of kubeletSigners) {
    it(`lets a node ask ${signer} for a certificate in its own name`, async () => {
      assert.equal((await ask(own, signer, usage)).status, 201)
    })

    it(`refuses another node's name for ${signer}`, async () => {
      assertRefused(
        await ask(other, signer, usage),
        'can only create a node CSR with CN=system:node:mynode',
      )
    })

    it(`refuses a request for ${signer} that cannot be read`, async () => {
      const [head = '', , ...rest] = own.split('\n')
      const {status, body} = await ask([head, ...rest].join('\n'), signer, usage)
      assert.equal(status, 403)
      assert.match(body.message, /is forbidden: unable to parse csr: ./)
    })
  }

  it("finds the kubelet's signer behind a request of v1beta1 that names none", async () => {
    const {status} = await stage.node.post(CSRS.replace('/v1/', '/v1beta1/'), {
      metadata: {generateName: 'csr-'},
      spec: {request: encoded(other), usages: ['digital signature', 'client auth']},
    })
    assert.equal(status, 403)
  })

  it('leaves other signers to their own rules', async () => {
    assert.equal((await ask(other, 'example.com/own', 'client auth')).status, 201)
  })

  it('says nothing to whoever is no node', async () => {
    const {status} = await stage.admin.post(CSRS, {
      metadata: {generateName: 'csr-'},
      spec: {
        request: encoded(other),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    })
    assert.equal(status, 201)
  })
})
