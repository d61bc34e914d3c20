import assert from 'node:assert/strict'
import {CAPTURED} from './captured.ts'
import {PROTOCOLS, type Answer, type GoClient} from './go-client.ts'
import {goProtobuf} from './go-protobuf.ts'
import {kubeletOf} from './kubelet-bootstrap.ts'
import {eventBody, leaseBody, nodeBody, watchList} from './kubelet-objects.ts'
import {asAdmin, suffixOf, traceCluster} from './trace-cluster.ts'

const NOW = new Date('2026-06-01T12:00:00.250Z')
const LATER = new Date('2026-06-01T12:00:10.500Z')
const MERGE = 'application/strategic-merge-patch+json'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes'
const EVENTS = '/api/v1/namespaces/default/events'
const PODS = '/api/v1/namespaces/default/pods'

interface Node {
  metadata: {uid: string; labels: Record<string, string>}
  spec: {taints?: {key: string}[]}
  status: {
    capacity: Record<string, string>
    conditions: {type: string; status: string; lastHeartbeatTime: string}[]
    addresses: {type: string; address: string}[]
    daemonEndpoints: {kubeletEndpoint: {Port: number}}
    nodeInfo: Record<string, string>
  }
}

const nodeIn = ({object}: {object: object}) => object as unknown as Node
const metadataOf = ({object}: Answer) =>
  object.metadata as {uid: string; resourceVersion: string; name: string}
const json = (value: object) => Buffer.from(JSON.stringify(value))

for (const protocol of PROTOCOLS) {
  describe(`a running kubelet over ${protocol}`, function () {
    this.timeout(30_000)
    const suffix = suffixOf(protocol)
    const node = `running-${suffix}`
    const other = `other-${suffix}`
    let kubelet: GoClient
    let admin: GoClient
    let uid = ''
    before(async () => {
      const cluster = await traceCluster()
      admin = asAdmin(cluster, protocol, 'kubectl')
      kubelet = await kubeletOf(cluster, protocol, node, `krun${suffix}`)
    })
    after(async () => {
      const body = CAPTURED.deleteOptions
      for (const name of [node, other])
        await admin.call({method: 'DELETE', path: `/api/v1/nodes/${name}`, body})
      await Promise.all([kubelet.close(), admin.close()])
    })

    const patch = (path: string, value: object, status = 200) =>
      kubelet.expect(status, {method: 'PATCH', path, type: MERGE, body: json(value)})

    it('fills its informers', async () => {
      for (const path of [
        watchList('/api/v1/nodes', `metadata.name=${node}`),
        watchList('/api/v1/pods', `spec.nodeName=${node}`),
        watchList('/api/v1/services', 'spec.clusterIP!=None'),
        watchList('/apis/node.k8s.io/v1/runtimeclasses'),
        watchList('/apis/storage.k8s.io/v1/csidrivers'),
      ]) {
        const watch = await kubelet.watch(path)
        for (const {type} of await watch.initialEvents()) assert.equal(type, 'ADDED')
        watch.close()
      }
    })

    it('registers its node with the status it comes with', async () => {
      const created = nodeIn(await kubelet.post('/api/v1/nodes', nodeBody(node, NOW)))
      uid = created.metadata.uid
      assert.equal(created.metadata.labels['kubernetes.io/hostname'], node)
      assert.deepEqual(created.status.addresses, [
        {type: 'InternalIP', address: '192.0.2.7'},
        {type: 'Hostname', address: node},
      ])
      assert.equal(created.status.capacity.memory, '4030684Ki')
      assert.equal(created.status.daemonEndpoints.kubeletEndpoint.Port, 10_250)
      assert.equal(created.status.nodeInfo.kubeletVersion, 'v1.36.4')
      assert.equal(created.status.conditions.length, 4)
      assert.equal(created.status.conditions[0]?.lastHeartbeatTime, '2026-06-01T12:00:00Z')
      assert.deepEqual(
        created.spec.taints?.map(({key}) => key),
        ['node.kubernetes.io/not-ready'],
      )
    })

    it('finds its node there when it starts again', async () => {
      const {object} = await kubelet.post('/api/v1/nodes', nodeBody(node, NOW), 409)
      assert.equal(object.reason, 'AlreadyExists')
      assert.equal(nodeIn(await kubelet.get(`/api/v1/nodes/${node}`)).metadata.uid, uid)
    })

    it('says that it is ready, with its addresses replaced as a whole', async () => {
      const watch = await kubelet.watch(watchList('/api/v1/nodes', `metadata.name=${node}`))
      try {
        const heartbeat = LATER.toISOString().replace(/\.\d+/, '')
        const ready = {type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready'}
        const {status} = nodeIn(
          await patch(`/api/v1/nodes/${node}/status`, {
            status: {
              '$setElementOrder/conditions': [
                {type: 'MemoryPressure'},
                {type: 'DiskPressure'},
                {type: 'PIDPressure'},
                {type: 'Ready'},
              ],
              addresses: [
                {type: 'InternalIP', address: '192.0.2.8'},
                {type: 'InternalIP', address: '2001:db8::8'},
                {type: 'Hostname', address: node},
                {$patch: 'replace'},
              ],
              conditions: [
                {type: 'MemoryPressure', lastHeartbeatTime: heartbeat},
                {...ready, lastHeartbeatTime: heartbeat, lastTransitionTime: heartbeat},
              ],
            },
          }),
        )
        assert.deepEqual(
          status.conditions.map(({type, status: value}) => `${type}=${value}`),
          ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False', 'Ready=True'],
        )
        assert.equal(status.conditions[0]?.lastHeartbeatTime, heartbeat)
        assert.deepEqual(
          status.addresses.map(({address}) => address),
          ['192.0.2.8', '2001:db8::8', node],
        )
        // Its informer tells that it is not held back any more.
        const free = await watch.find(
          ({type, object}) => type === 'MODIFIED' && !nodeIn({object}).spec.taints,
        )
        assert.equal(free.object.metadata.uid, uid)
      } finally {
        watch.close()
      }
    })

    it('makes and renews its lease', async () => {
      const path = `${LEASES}/${node}?timeout=10s`
      await kubelet.get(path, 404)
      const made = await kubelet.post(`${LEASES}?timeout=10s`, leaseBody(node, uid, NOW))
      const {resourceVersion} = metadataOf(made)
      const renewal = leaseBody(node, uid, LATER, {uid: metadataOf(made).uid, resourceVersion})
      const {object} = await kubelet.put(path, renewal)
      assert.deepEqual(object.spec, {
        holderIdentity: node,
        leaseDurationSeconds: 40,
        renewTime: '2026-06-01T12:00:10.500000Z',
      })
      await kubelet.put(path, renewal, 409)
    })

    it('makes its CSINode and adds a driver to it', async () => {
      await kubelet.get(`${CSI_NODES}/${node}`, 404)
      const body = (metadata: object, drivers: object[]) =>
        goProtobuf('storage.k8s.io/v1', 'CSINode', {
          metadata: {
            name: node,
            ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: node, uid}],
            ...metadata,
          },
          spec: {drivers},
        })
      const made = await kubelet.post(CSI_NODES, body({}, []))
      const {resourceVersion} = metadataOf(made)
      const driver = {name: 'csi.example.test', nodeID: node, topologyKeys: ['zone']}
      const {object} = await kubelet.put(`${CSI_NODES}/${node}`, body({resourceVersion}, [driver]))
      assert.deepEqual(object.spec, {drivers: [driver]})
    })

    it('tells events, and how often they came', async () => {
      const made = await kubelet.post(EVENTS, eventBody(node, NOW))
      assert.equal(made.object.firstTimestamp, '2026-06-01T12:00:00Z')
      assert.equal(made.object.eventTime, null)
      const path = `${EVENTS}/${metadataOf(made).name}`
      const {object} = await patch(path, {count: 2, lastTimestamp: '2026-06-01T12:00:10Z'})
      assert.equal(object.count, 2)
    })

    it('asks who calls its own API, and what they may', async () => {
      const authentication = await kubelet.post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        goProtobuf('authentication.k8s.io/v1', 'TokenReview', {spec: {token: 'not.a.token'}}),
      )
      const {authenticated, error} = authentication.object.status as Record<string, unknown>
      assert.ok(!authenticated)
      assert.equal(error, 'invalid bearer token')
      const authorization = await kubelet.post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        goProtobuf('authorization.k8s.io/v1', 'SubjectAccessReview', {
          spec: {
            user: 'kube-apiserver-kubelet-client',
            groups: ['system:authenticated'],
            resourceAttributes: {
              verb: 'get',
              version: 'v1',
              resource: 'nodes',
              subresource: 'proxy',
              name: node,
            },
          },
        }),
      )
      const {allowed} = authorization.object.status as {allowed: boolean}
      assert.equal(typeof allowed, 'boolean')
    })

    it('gets what its pod needs, and tells how the pod is', async () => {
      const name = `guest-${suffix}`
      const secrets = '/api/v1/namespaces/default/secrets'
      for (const secret of [name, `hidden-${suffix}`]) {
        const metadata = {name: secret, namespace: 'default'}
        await admin.post(secrets, goProtobuf('v1', 'Secret', {metadata}))
      }
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {name},
        spec: {
          nodeName: node,
          containers: [{name: 'c', image: 'example.test/c'}],
          volumes: [{name: 'v', secret: {secretName: name}}],
        },
      }
      const watch = await kubelet.watch(watchList('/api/v1/pods', `spec.nodeName=${node}`))
      try {
        await watch.initialEvents()
        const path = PODS
        await admin.expect(201, {method: 'POST', path, type: 'application/json', body: json(pod)})
        const seen = await watch.find(({object}) => object.metadata.name === name)
        const own = await kubelet.watch(watchList(secrets, `metadata.name=${name}`))
        assert.equal((await own.initialEvents()).length, 1)
        own.close()
        await kubelet.get(`${secrets}/${name}`)
        await kubelet.get(`${secrets}/hidden-${suffix}`, 403)

        const bound = {kind: 'Pod', apiVersion: 'v1', name, uid: seen.object.metadata.uid}
        const request = goProtobuf('authentication.k8s.io/v1', 'TokenRequest', {
          spec: {expirationSeconds: 3607, boundObjectRef: bound},
        })
        const account = '/api/v1/namespaces/default/serviceaccounts/default/token'
        const {object} = await kubelet.post(account, request)
        assert.match((object.status as {token: string}).token, /^ey/)

        const after = await patch(`${PODS}/${name}/status`, {status: {phase: 'Running'}})
        assert.equal((after.object.status as {phase: string}).phase, 'Running')
      } finally {
        watch.close()
        const options = goProtobuf('v1', 'DeleteOptions', {gracePeriodSeconds: 0})
        await kubelet.expect(200, {method: 'DELETE', path: `${PODS}/${name}`, body: options})
      }
    })

    it('can do none of this for another node', async () => {
      const theirs = goProtobuf('v1', 'Node', {metadata: {name: other}})
      await kubelet.post('/api/v1/nodes', theirs, 403)
      await admin.post('/api/v1/nodes', theirs)
      await kubelet.get(`/api/v1/nodes/${other}`, 403)
      await patch(`/api/v1/nodes/${other}/status`, {status: {}}, 403)
      await kubelet.post(LEASES, leaseBody(other, uid, NOW), 403)
      await kubelet.get(`${LEASES}/${other}`, 403)
      await kubelet.get(`${CSI_NODES}/${other}`, 403)
      await kubelet.get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${other}`, 403)
    })
  })
}
