import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const KIB = 1024
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const text = (kib: number) => 'x'.repeat(kib * KIB)
const annotated = (name: string, kib: number) => ({metadata: {name, annotations: {a: text(kib)}}})

describe('an object that is too large', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  before(async () => {
    server = await startTestServer({controllers: false, storage})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  const tooLarge = {
    'a ConfigMap': [CONFIG_MAPS, {metadata: {name: 'large'}, data: {a: '\n'.repeat(900 * KIB)}}],
    'a Node': ['/api/v1/nodes', {metadata: {name: 'large'}, status: {phase: text(300)}}],
    'an Event': [
      '/api/v1/namespaces/default/events',
      {metadata: {name: 'large'}, involvedObject: {}, message: text(40)},
    ],
    'a Lease': ['/apis/coordination.k8s.io/v1/namespaces/default/leases', annotated('large', 20)],
    'a CSINode': [
      '/apis/storage.k8s.io/v1/csinodes',
      {...annotated('large', 70), spec: {drivers: []}},
    ],
  } as const
  for (const [name, [path, object]] of Object.entries(tooLarge)) {
    it(`cannot be created: ${name}`, async () => {
      const {status, body} = await api.post(path, object)
      assert.deepEqual([status, body.reason], [413, 'RequestEntityTooLarge'], body.message)
      assert.match(body.message, /takes \d+ bytes, and one of \w+ at most \d+$/)
      assert.equal((await api.get(`${path}/large`)).status, 404)
    })
  }

  it('cannot be made by an update or a patch either, nor as a dry run', async () => {
    await api.post('/api/v1/nodes', {metadata: {name: 'grows'}})
    const patch = {status: {phase: text(300)}}
    const path = '/api/v1/nodes/grows/status'
    const {body: node} = await api.get('/api/v1/nodes/grows')
    assert.equal((await api.patch(path, patch)).status, 413)
    assert.equal((await api.patch(`${path}?dryRun=All`, patch)).status, 413)
    assert.equal((await api.put(path, {...node, ...patch})).status, 413)
    assert.deepEqual((await api.get('/api/v1/nodes/grows')).body, node)
  })

  it('can be made smaller and deleted if an older version has stored it', async () => {
    const data = {a: text(1000), b: text(1000)}
    const stored = {metadata: {name: 'old', namespace: 'default'}, data}
    const key = '/registry/core/configmaps/default/old'
    await storage.create(key, Buffer.from(JSON.stringify(stored)))
    const path = `${CONFIG_MAPS}/old`
    assert.equal((await api.get(path)).status, 200)
    assert.equal((await api.patch(path, {data: {a: null}})).status, 200)
    assert.equal((await api.patch(path, {data: {a: text(900)}})).status, 422)
    assert.equal((await api.delete(path)).status, 200)
  })

  it('is refused by its number of labels, before each is looked at', async () => {
    const labels = Object.fromEntries(Array.from({length: 5000}, (_, index) => [`l${index}`, '!']))
    const {status, body} = await api.post(CONFIG_MAPS, {metadata: {name: 'labels', labels}})
    assert.equal(status, 422)
    assert.equal(
      body.message,
      'ConfigMap "labels" is invalid: metadata.labels: Too many: 5000: must have at most 1024 items',
    )
  })
})
