import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'

describe('delete', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  let count = 0

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
    await api.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
  })
  after(() => server.stop())

  const created = async (metadata: object = {}) =>
    (await api.post(PATH, {metadata: {name: `o${++count}`, ...metadata}})).body
  const at = (name: string) => `${PATH}/${name}`

  it('answers a Status that names what is gone', async () => {
    const {metadata} = await created()
    const {status, body} = await api.delete(at(metadata.name))
    assert.equal(status, 200)
    assert.deepEqual(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: {name: metadata.name, kind: 'configmaps', uid: metadata.uid},
    })
    assert.equal((await api.get(at(metadata.name))).status, 404)
    assert.equal((await api.delete(at(metadata.name))).status, 404)
  })

  it('takes options without kind, and in protobuf', async () => {
    const [one, other] = [await created(), await created()]
    const json = await api.delete(at(one.metadata.name), {propagationPolicy: 'Background'})
    assert.equal(json.status, 200)
    const bytes = Buffer.from(
      '6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200',
      'hex',
    )
    const protobuf = await api.call('DELETE', at(other.metadata.name), {
      body: bytes,
      type: 'application/vnd.kubernetes.protobuf',
    })
    assert.equal(protobuf.status, 200)
  })

  it('keeps an object with finalizers, marked, until the last of them is gone', async () => {
    const {metadata} = await created({finalizers: ['example.com/one', 'example.com/two']})
    const url = at(metadata.name)
    const marked = await api.delete(url)
    assert.equal(marked.body.kind, 'ConfigMap')
    assert.ok(marked.body.metadata.deletionTimestamp)
    assert.equal(marked.body.metadata.deletionGracePeriodSeconds, 0)

    const revision = await storage.revision()
    const again = await api.delete(url)
    assert.deepEqual([again.status, await storage.revision()], [200, revision])

    const added = await api.patch(url, {
      metadata: {finalizers: ['example.com/one', 'example.com/new']},
    })
    assert.equal(added.status, 422)
    const why =
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}'
    assert.equal(
      added.body.message,
      `ConfigMap "${metadata.name}" is invalid: metadata.finalizers: ${why}`,
    )
    const cause = {reason: 'FieldValueForbidden', message: why, field: 'metadata.finalizers'}
    assert.deepEqual(added.body.details?.causes, [cause, cause])

    const watch = await api.watch(`${PATH}?resourceVersion=${await storage.revision()}`)
    await api.patch(url, {metadata: {finalizers: ['example.com/two']}})
    const last = await api.patch(url, {metadata: {finalizers: null}})
    assert.equal(last.status, 200)
    assert.equal((await api.get(url)).status, 404)
    assert.deepEqual(await watch.summary(2), [
      `MODIFIED ${metadata.name}`,
      `DELETED ${metadata.name}`,
    ])
    await watch.stop()
  })

  it('deletes only what the preconditions name', async () => {
    const {metadata} = await created()
    const wrong = await api.delete(at(metadata.name), {preconditions: {uid: 'other'}})
    assert.deepEqual([wrong.status, wrong.body.reason], [409, 'Conflict'])
    assert.equal(
      wrong.body.message,
      `Operation cannot be fulfilled on ConfigMap "${metadata.name}": the UID in the precondition (other) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
    const old = await api.delete(at(metadata.name), {preconditions: {resourceVersion: '1'}})
    assert.equal(old.status, 409)
    const {uid, resourceVersion} = metadata
    const right = await api.delete(at(metadata.name), {preconditions: {uid, resourceVersion}})
    assert.equal(right.status, 200)
  })

  it('stores nothing with dryRun=All, in the query or the body', async () => {
    const {metadata} = await created()
    const before = await storage.revision()
    assert.equal((await api.delete(`${at(metadata.name)}?dryRun=All`)).status, 200)
    assert.equal((await api.delete(at(metadata.name), {dryRun: ['All']})).status, 200)
    assert.equal(await storage.revision(), before)
  })

  it('is done at once in the background', async () => {
    const {metadata} = await created()
    await api.delete(`${at(metadata.name)}?propagationPolicy=Background`)
    assert.equal((await api.get(at(metadata.name))).status, 404)
  })

  for (const [options, finalizer] of [
    [{propagationPolicy: 'Foreground'}, 'foregroundDeletion'],
    [{propagationPolicy: 'Orphan'}, 'orphan'],
    [{orphanDependents: true}, 'orphan'],
  ] as const) {
    it(`waits for the garbage collector: ${JSON.stringify(options)}`, async () => {
      const {metadata} = await created({finalizers: ['example.com/own']})
      const {status, body} = await api.delete(at(metadata.name), options)
      assert.equal(status, 200)
      assert.deepEqual(body.metadata.finalizers, ['example.com/own', finalizer])
      assert.ok(body.metadata.deletionTimestamp)
      const later = await api.delete(at(metadata.name))
      assert.deepEqual(later.body.metadata.finalizers, ['example.com/own', finalizer])
      const other = await api.delete(at(metadata.name), {propagationPolicy: 'Background'})
      assert.deepEqual(other.body.metadata.finalizers, ['example.com/own'])
      await api.patch(at(metadata.name), {metadata: {finalizers: null}})
      assert.equal((await api.get(at(metadata.name))).status, 404)
    })
  }

  it('refuses a policy that it does not know, and two that contradict', async () => {
    const {metadata} = await created()
    const unknown = await api.delete(at(metadata.name), {propagationPolicy: 'Sometimes'})
    assert.deepEqual([unknown.status, unknown.body.reason], [422, 'Invalid'])
    const both = {propagationPolicy: 'Orphan', orphanDependents: true}
    assert.equal((await api.delete(at(metadata.name), both)).status, 422)
    const inQuery = await api.delete(
      `${at(metadata.name)}?propagationPolicy=Orphan&orphanDependents=true`,
    )
    assert.equal(inQuery.status, 422)
  })

  describe('of pods', () => {
    const pod = async (spec: object = {}) => {
      const name = `p${++count}`
      const {body} = await api.post(PODS, {
        metadata: {name},
        spec: {containers: [{name: 'c', image: 'i'}], ...spec},
      })
      return body
    }

    it('is done at once where no node has it', async () => {
      const {metadata} = await pod()
      assert.equal((await api.delete(`${PODS}/${metadata.name}`)).status, 200)
      assert.equal((await api.get(`${PODS}/${metadata.name}`)).status, 404)
    })

    it('gives the node its time, and no more than was asked for', async () => {
      const {metadata} = await pod({nodeName: 'n1'})
      const url = `${PODS}/${metadata.name}`
      const marked = await api.delete(url)
      assert.equal(marked.body.metadata.deletionGracePeriodSeconds, 30)
      const sooner = await api.delete(url, {gracePeriodSeconds: 5})
      assert.equal(sooner.body.metadata.deletionGracePeriodSeconds, 5)
      const later = await api.delete(url, {gracePeriodSeconds: 60})
      assert.equal(later.body.metadata.deletionGracePeriodSeconds, 5)
      assert.equal((await api.delete(`${url}?gracePeriodSeconds=0`)).body.kind, 'Status')
      assert.equal((await api.get(url)).status, 404)
    })

    it('is refused for a time that is no number', async () => {
      const {metadata} = await pod()
      const {status, body} = await api.delete(`${PODS}/${metadata.name}?gracePeriodSeconds=soon`)
      assert.deepEqual(
        [status, body.message],
        [400, 'strconv.ParseInt: parsing "soon": invalid syntax'],
      )
      assert.equal((await api.get(`${PODS}/${metadata.name}`)).status, 200)
    })

    it('takes a negative time for a second', async () => {
      const {metadata} = await pod({nodeName: 'n1'})
      const {body} = await api.delete(`${PODS}/${metadata.name}`, {gracePeriodSeconds: -1})
      assert.equal(body.metadata.deletionGracePeriodSeconds, 1)
    })

    it('takes a hundred years for a time that ends after the last year that clients can read', async () => {
      const {metadata} = await pod({nodeName: 'n1'})
      const gracePeriodSeconds = Number.MAX_SAFE_INTEGER
      const {status, body} = await api.delete(`${PODS}/${metadata.name}`, {gracePeriodSeconds})
      assert.equal(status, 200)
      assert.match(String(body.metadata.deletionTimestamp), /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    })
  })

  describe('of a collection', () => {
    it('takes what the selectors match in one namespace, and answers it', async () => {
      await api.delete(PATH)
      await created({name: 'one', labels: {go: 'yes'}})
      await created({name: 'two', labels: {go: 'no'}})
      await created({name: 'three', labels: {go: 'yes'}})
      const {status, body} = await api.delete(
        `${PATH}?labelSelector=go=yes&fieldSelector=metadata.name!=three`,
      )
      assert.deepEqual([status, body.kind], [200, 'ConfigMapList'])
      assert.deepEqual(
        body.items.map(({metadata}) => metadata.name),
        ['one'],
      )
      const left = await api.get(PATH)
      assert.deepEqual(
        left.body.items.map(({metadata}) => metadata.name),
        ['three', 'two'],
      )
    })

    it('stores nothing with dryRun=All', async () => {
      await created()
      const before = await storage.revision()
      assert.equal((await api.delete(`${PATH}?dryRun=All`)).status, 200)
      assert.equal(await storage.revision(), before)
    })

    it('is not to be had for all namespaces at once, nor for namespaces', async () => {
      assert.equal((await api.delete('/api/v1/configmaps')).status, 405)
      assert.equal((await api.delete('/api/v1/namespaces')).status, 405)
    })
  })
})
