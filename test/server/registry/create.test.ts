import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'

describe('create', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  it('answers 201 with kind, identity and revision, and nobody else’s say in them', async () => {
    const {status, body} = await api.post(PATH, {
      metadata: {
        name: 'a',
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        selfLink: '/mine',
        generation: 7,
        resourceVersion: '0',
      },
      data: {k: 'v'},
    })
    assert.equal(status, 201)
    const {kind, apiVersion, metadata, data} = body
    assert.deepEqual(
      {kind, apiVersion, data},
      {kind: 'ConfigMap', apiVersion: 'v1', data: {k: 'v'}},
    )
    assert.equal(metadata.namespace, 'default')
    assert.match(
      metadata.uid ?? '',
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.match(metadata.creationTimestamp ?? '', /^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(metadata.resourceVersion, String(await storage.revision()))
    for (const field of ['deletionTimestamp', 'selfLink', 'generation'])
      assert.equal(field in metadata, false, field)
    assert.deepEqual((await api.get(`${PATH}/a`)).body, body)
  })

  it('makes a name of generateName and five letters that spell nothing', async () => {
    const {body} = await api.post(PATH, {metadata: {generateName: 'x-'}})
    assert.match(body.metadata.name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(body.metadata.generateName, 'x-')
    const long = await api.post(PATH, {metadata: {generateName: 'y'.repeat(80)}})
    assert.equal(long.body.metadata.name.length, 63)
  })

  it('stores nothing with dryRun=All but answers as if it had', async () => {
    const before = await storage.revision()
    const {status, body} = await api.post(`${PATH}?dryRun=All`, {metadata: {generateName: 'dry-'}})
    assert.equal(status, 201)
    assert.ok(body.metadata.uid && body.metadata.name.length === 9)
    assert.equal('resourceVersion' in body.metadata, false)
    assert.equal(await storage.revision(), before)
    const again = await api.post(`${PATH}?dryRun=All`, {metadata: {name: 'a'}})
    assert.equal(again.body.reason, 'AlreadyExists')
  })

  it('drops a namespace from what belongs to the cluster', async () => {
    const {status, body} = await api.post('/api/v1/nodes', {
      metadata: {name: 'n1', namespace: 'default'},
    })
    assert.equal(status, 201)
    assert.equal('namespace' in body.metadata, false)
  })

  it('takes a body without kind, in JSON, YAML or protobuf', async () => {
    const yaml = await api.post(PATH, 'metadata:\n  name: yaml\ndata: {k: "v"}\n', {
      type: 'application/yaml',
    })
    assert.deepEqual([yaml.status, yaml.body.data], [201, {k: 'v'}])
    // As `kubectl create configmap x --from-literal=a=b` sends it.
    const bytes = Buffer.from(
      '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a017812001a0022002a0032003800420012060a01611201621a002200',
      'hex',
    )
    const protobuf = await api.post(PATH, bytes, {type: 'application/vnd.kubernetes.protobuf'})
    assert.deepEqual([protobuf.status, protobuf.body.data], [201, {a: 'b'}])
  })

  const secretPath = '/api/v1/namespaces/default/secrets'
  const refusals: {
    name: string
    path?: string
    body: unknown
    type?: string
    status: number
    reason: string | undefined
    message: string
  }[] = [
    {
      name: 'a name that is taken',
      body: {metadata: {name: 'a'}},
      status: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    },
    {
      name: 'no name at all',
      body: {metadata: {}},
      status: 422,
      reason: 'Invalid',
      message: 'metadata.name: Required value: name or generateName is required',
    },
    {
      name: 'a name that is none',
      body: {metadata: {name: 'Not_A_Name'}},
      status: 422,
      reason: 'Invalid',
      message: 'ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value',
    },
    {
      name: 'another namespace than the path’s',
      body: {metadata: {name: 'b', namespace: 'kube-system'}},
      status: 400,
      reason: 'BadRequest',
      message:
        'the namespace of the provided object does not match the namespace sent on the request',
    },
    {
      name: 'a namespace that is not there',
      path: '/api/v1/namespaces/nowhere/configmaps',
      body: {metadata: {name: 'b'}},
      status: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
    },
    {
      name: 'a revision of its own',
      body: {metadata: {name: 'b', resourceVersion: '5'}},
      status: 500,
      reason: undefined,
      message: 'resourceVersion should not be set on objects to be created',
    },
    {
      name: 'another kind than the path’s',
      body: {kind: 'Secret', apiVersion: 'v1', metadata: {name: 'b'}},
      status: 400,
      reason: 'BadRequest',
      message: 'Secret in version "v1" cannot be handled as a ConfigMap',
    },
    {
      name: 'a body in no known format',
      body: 'hello',
      type: 'text/plain',
      status: 415,
      reason: 'UnsupportedMediaType',
      message: 'the body of the request was in an unknown format',
    },
    {
      name: 'a body that is no JSON',
      body: '{"metadata":',
      status: 400,
      reason: 'BadRequest',
      message: '',
    },
    {
      name: 'an unknown dryRun',
      path: `${PATH}?dryRun=Some`,
      body: {metadata: {name: 'b'}},
      status: 422,
      reason: 'Invalid',
      message: 'dryRun: Unsupported value: ["Some"]: supported values: "All"',
    },
    {
      name: 'an unknown fieldValidation',
      path: `${PATH}?fieldValidation=Maybe`,
      body: {metadata: {name: 'b'}},
      status: 422,
      reason: 'Invalid',
      message: 'fieldValidation: Unsupported value: "Maybe"',
    },
    {
      name: 'unknown and doubled fields with fieldValidation=Strict',
      path: `${PATH}?fieldValidation=Strict`,
      body: '{"metadata":{"name":"b","foo":1},"bar":1,"data":{"a":"1","a":"2"}}',
      status: 400,
      reason: 'BadRequest',
      message:
        'strict decoding error: unknown field "metadata.foo", unknown field "bar", duplicate field "data.a"',
    },
    {
      name: 'data that is no base64',
      path: secretPath,
      body: {metadata: {name: 'b'}, data: {k: '%%'}},
      status: 400,
      reason: 'BadRequest',
      message: 'illegal base64 data',
    },
  ]
  for (const {name, path = PATH, body, type, status, reason, message} of refusals) {
    it(`refuses ${name}`, async () => {
      const before = await storage.revision()
      const answer = await api.post(path, body, type === undefined ? {} : {type})
      assert.equal(answer.status, status)
      assert.equal(answer.body.reason, reason)
      assert.ok(answer.body.message.includes(message), answer.body.message)
      assert.equal(await storage.revision(), before)
    })
  }

  it('warns of unknown fields by default, and says nothing with fieldValidation=Ignore', async () => {
    const body = {metadata: {name: 'w'}, bar: 1}
    const warned = await api.post(`${PATH}?dryRun=All`, body)
    assert.equal(warned.status, 201)
    assert.deepEqual(warned.headers.Warning, ['299 - "unknown field \\"bar\\""'])
    const ignored = await api.post(`${PATH}?dryRun=All&fieldValidation=Ignore`, body)
    assert.equal(ignored.headers.Warning, undefined)
  })

  it('keeps no field that it does not know', async () => {
    await api.post(PATH, {metadata: {name: 'known'}, bar: 1})
    assert.equal('bar' in (await api.get(`${PATH}/known`)).body, false)
  })
})
