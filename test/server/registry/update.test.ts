import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

describe('update', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  let count = 0

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  const created = async (object: object = {}) => {
    const metadata = {name: `o${++count}`}
    return (await api.post(PATH, {metadata, ...object})).body
  }

  it('replaces the object and raises its revision', async () => {
    const object = await created({data: {a: '1', b: '2'}})
    const {status, body} = await api.put(`${PATH}/${object.metadata.name}`, {
      ...object,
      data: {a: '3'},
    })
    assert.deepEqual([status, body.data], [200, {a: '3'}])
    assert.ok(Number(body.metadata.resourceVersion) > Number(object.metadata.resourceVersion))
    assert.equal(body.metadata.uid, object.metadata.uid)
  })

  it('needs no revision: then it is unconditional', async () => {
    const {metadata} = await created()
    const {status, body} = await api.put(`${PATH}/${metadata.name}`, {
      metadata: {name: metadata.name},
      data: {a: '1'},
    })
    assert.deepEqual([status, body.data], [200, {a: '1'}])
    assert.equal(body.metadata.creationTimestamp, metadata.creationTimestamp)
    assert.equal(body.metadata.uid, metadata.uid)
  })

  it('of an older revision is a conflict', async () => {
    const object = await created()
    const {name} = object.metadata
    await api.patch(`${PATH}/${name}`, {data: {a: '1'}})
    const {status, body} = await api.put(`${PATH}/${name}`, object)
    assert.deepEqual(
      [status, body.reason, body.details],
      [409, 'Conflict', {name, kind: 'configmaps'}],
    )
    assert.equal(
      body.message,
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    )
  })

  it('has to say the name', async () => {
    const {metadata} = await created()
    const {status, body} = await api.put(`${PATH}/${metadata.name}`, {metadata: {}})
    assert.deepEqual(
      [status, body.message],
      [
        400,
        `the name of the object (${metadata.name} based on URL) was undeterminable: name must be provided`,
      ],
    )
  })

  it('of a revision that is no number is an error that says so', async () => {
    const {metadata} = await created()
    const {status, body} = await api.put(`${PATH}/${metadata.name}`, {
      metadata: {name: metadata.name, resourceVersion: 'abc'},
    })
    assert.deepEqual(
      [status, body.message],
      [500, 'strconv.ParseUint: parsing "abc": invalid syntax'],
    )
  })

  it('of a lease that is gone makes it anew, but not for its old uid', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    const gone = {metadata: {name: 'gone', resourceVersion: '5'}}
    assert.equal((await api.put(`${leases}/gone`, gone)).status, 201)
    const other = {metadata: {name: 'other', uid: 'u'}}
    const {status, body} = await api.put(`${leases}/other`, other)
    assert.equal(status, 409)
    assert.match(body.message, /UID in precondition: u, UID in object meta: $/)
  })

  it('of a service that is not there creates it', async () => {
    const services = '/api/v1/namespaces/default/services'
    const service = {metadata: {name: 's'}, spec: {ports: [{port: 80}]}}
    assert.equal((await api.put(`${services}/s`, service)).status, 201)
  })

  for (const [plural, path, body] of [
    ['csidrivers', '/apis/storage.k8s.io/v1/csidrivers', {spec: {}}],
    ['csinodes', '/apis/storage.k8s.io/v1/csinodes', {spec: {drivers: []}}],
    ['runtimeclasses', '/apis/node.k8s.io/v1/runtimeclasses', {handler: 'x'}],
    ['machines', '/apis/machine.openshift.io/v1beta1/namespaces/default/machines', {spec: {}}],
  ] as const) {
    it(`of ${plural} needs a revision`, async () => {
      const object = {metadata: {name: 'one'}, ...body}
      assert.equal((await api.post(path, object)).status, 201)
      const answer = await api.put(`${path}/one`, object)
      assert.equal(answer.status, 422)
      assert.match(
        answer.body.message,
        /metadata.resourceVersion: Invalid value: 0: must be specified for an update$/,
      )
    })
  }

  it('for another uid is a conflict', async () => {
    const {metadata} = await created()
    const {status, body} = await api.put(`${PATH}/${metadata.name}`, {
      metadata: {name: metadata.name, uid: 'another'},
    })
    assert.deepEqual([status, body.reason], [409, 'Conflict'])
  })

  it('that changes nothing writes nothing, whatever the order of its fields', async () => {
    const object = await created({data: {a: '1', b: '2'}})
    const before = await storage.revision()
    const {body} = await api.put(`${PATH}/${object.metadata.name}`, {
      data: {b: '2', a: '1'},
      metadata: Object.fromEntries(Object.entries(object.metadata).reverse()),
    })
    assert.equal(body.metadata.resourceVersion, object.metadata.resourceVersion)
    assert.equal(await storage.revision(), before)
  })

  it('stores nothing with dryRun=All', async () => {
    const object = await created()
    const before = await storage.revision()
    const {status, body} = await api.put(`${PATH}/${object.metadata.name}?dryRun=All`, {
      ...object,
      data: {a: '1'},
    })
    assert.deepEqual([status, body.data], [200, {a: '1'}])
    assert.equal(await storage.revision(), before)
  })

  it('refuses another name than the path’s, and another namespace', async () => {
    const {metadata} = await created()
    const named = await api.put(`${PATH}/${metadata.name}`, {metadata: {name: 'other'}})
    assert.equal(named.status, 400)
    assert.equal(
      named.body.message,
      `the name of the object (other) does not match the name on the URL (${metadata.name})`,
    )
    const placed = await api.put(`${PATH}/${metadata.name}`, {metadata: {namespace: 'kube-system'}})
    assert.equal(placed.status, 400)
  })

  it('of what is not there is 404', async () => {
    const {status, body} = await api.put(`${PATH}/none`, {metadata: {name: 'none'}})
    assert.deepEqual([status, body.message], [404, 'configmaps "none" not found'])
  })

  it('creates roles, bindings and leases that are not there, for who may create', async () => {
    const role = {metadata: {name: 'r'}, rules: []}
    assert.equal((await api.put(`${RBAC}/namespaces/default/roles/r`, role)).status, 201)
    assert.equal((await api.put(`${RBAC}/namespaces/default/roles/r`, role)).status, 200)
    await api.post(`${RBAC}/clusterroles`, {
      metadata: {name: 'updates-leases'},
      rules: [{apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update']}],
    })
    await api.post(`${RBAC}/clusterrolebindings`, {
      metadata: {name: 'updates-leases'},
      roleRef: {kind: 'ClusterRole', name: 'updates-leases'},
      subjects: [{kind: 'User', name: 'ann'}],
    })
    const lease = {metadata: {name: 'l'}, spec: {holderIdentity: 'me', leaseDurationSeconds: 1}}
    const refused = await api.as('ann').put(`${LEASES}/l`, lease)
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /User "ann" cannot create resource "leases"/)
    assert.equal((await api.put(`${LEASES}/l`, lease)).status, 201)
  })

  it('of a lease needs its revision', async () => {
    await api.post(LEASES, {metadata: {name: 'held'}, spec: {}})
    const {status, body} = await api.put(`${LEASES}/held`, {metadata: {name: 'held'}, spec: {}})
    assert.equal(status, 422)
    assert.match(body.message, /metadata.resourceVersion: Invalid value: 0: must be specified/)
  })

  it('keeps status apart: the object’s own path does not change it, /status nothing else', async () => {
    const pods = '/api/v1/namespaces/default/pods'
    await api.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
    const spec = {containers: [{name: 'c', image: 'i'}]}
    const {body: pod} = await api.post(pods, {metadata: {name: 'p'}, spec})
    const main = await api.put(`${pods}/p`, {...pod, status: {phase: 'Failed'}})
    assert.equal(main.body.status.phase, 'Pending')
    const changed = structuredClone(main.body)
    changed.status.phase = 'Running'
    changed.spec.containers[0].image = 'other'
    changed.metadata.labels = {through: 'status'}
    const status = await api.put(`${pods}/p/status`, changed)
    assert.equal(status.status, 200, status.text)
    assert.equal(status.body.status.phase, 'Running')
    assert.equal(status.body.spec.containers[0].image, 'i')
    assert.deepEqual(status.body.metadata.labels, {through: 'status'})
    assert.deepEqual((await api.get(`${pods}/p/status`)).body, status.body)
  })

  it('lets nobody change identity and times', async () => {
    const object = await created()
    const {name} = object.metadata
    const tampered = {...object.metadata, creationTimestamp: '2001-01-01T00:00:00Z'}
    const {status, body} = await api.put(`${PATH}/${name}`, {metadata: tampered})
    assert.equal(status, 422)
    assert.match(body.message, /metadata.creationTimestamp: .*field is immutable/)
    const marked = {...object.metadata, deletionTimestamp: '2001-01-01T00:00:00Z'}
    const kept = await api.put(`${PATH}/${name}`, {metadata: marked})
    assert.equal('deletionTimestamp' in kept.body.metadata, false)
  })
})
