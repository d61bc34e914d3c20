import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const MACHINES = '/apis/machine.openshift.io/v1beta1/namespaces/default/machines'

describe('patch', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  const url = `${PATH}/a`

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())
  beforeEach(async () => {
    await api.delete(PATH)
    await api.post(PATH, {metadata: {name: 'a', labels: {x: '1'}}, data: {one: '1', two: '2'}})
  })

  it('by JSON patch follows its operations', async () => {
    const {status, body} = await api.patch(
      url,
      [
        {op: 'test', path: '/data/one', value: '1'},
        {op: 'replace', path: '/data/one', value: 'uno'},
        {op: 'remove', path: '/data/two'},
        {op: 'add', path: '/metadata/labels/a~1b', value: 'c'},
      ],
      'json',
    )
    assert.equal(status, 200)
    assert.deepEqual([body.data, body.metadata.labels], [{one: 'uno'}, {x: '1', 'a/b': 'c'}])
  })

  const kinds: [kind: string, why: string][] = [
    ['Secret', 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    [
      'Odd',
      'no kind "Odd" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
  ]
  for (const [kind, why] of kinds) {
    it(`does not make it a ${kind}`, async () => {
      const {status, body} = await api.patch(url, {kind})
      assert.equal(status, 422)
      assert.ok(body.message.endsWith(why), body.message)
    })
  }

  it('by merge patch shows what it would have made where that cannot be', async () => {
    const {body} = await api.patch(url, {data: 'x'})
    assert.match(
      body.message,
      /^ "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":\\"x\\",\\"kind\\":/,
    )
  })

  it('by strategic merge shows itself where that cannot be', async () => {
    const {body} = await api.patch(url, {data: 'x'}, 'strategic-merge')
    assert.match(body.message, /^ "" is invalid: patch: Invalid value: "map\[data:x\]": json:/)
  })

  it('by apply says which stored items lack the key that an applier names them by', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await api.post(accounts, {metadata: {name: 'robot'}, secrets: [{namespace: 'default'}]})
    const applied = {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'robot'}}
    const {status, body} = await api.patch(`${accounts}/robot?fieldManager=m`, applied, 'apply')
    assert.deepEqual([status, body.reason], [422, 'Invalid'])
    assert.equal(
      body.message,
      'failed to create typed live object (default/robot; /v1, Kind=ServiceAccount): .secrets: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value); correct it with an update, then apply again',
    )
    await api.patch(`${accounts}/robot`, {secrets: null})
    assert.equal(
      (await api.patch(`${accounts}/robot?fieldManager=m`, applied, 'apply')).status,
      200,
    )
  })

  it('by apply does not make what is gone for its old uid, but for an old revision', async () => {
    const applied = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'n', uid: 'u'}}
    const path = `${PATH}/n?fieldManager=m`
    const {status, body} = await api.patch(path, applied, 'apply')
    assert.deepEqual(
      [status, body.message],
      [
        409,
        'Operation cannot be fulfilled on configmaps "n": uid mismatch: the provided object specified uid u, and no existing object was found',
      ],
    )
    const old = {...applied, metadata: {name: 'n', resourceVersion: '1'}}
    assert.equal((await api.patch(path, old, 'apply')).status, 201)
  })

  it('by merge patch deletes with null', async () => {
    const {body} = await api.patch(url, {data: {one: null, three: '3'}, metadata: {labels: null}})
    assert.deepEqual([body.data, 'labels' in body.metadata], [{two: '2', three: '3'}, false])
  })

  it('by strategic merge patch merges lists by their keys', async () => {
    await api.post('/api/v1/nodes', {metadata: {name: 'n'}})
    const status = (conditions: object[]) =>
      api.patch('/api/v1/nodes/n/status', {status: {conditions}}, 'strategic-merge')
    await status([
      {type: 'Ready', status: 'True'},
      {type: 'DiskPressure', status: 'False'},
    ])
    const {body} = await status([{type: 'Ready', status: 'False'}])
    const conditions = body.status.conditions as {type: string; status: string}[]
    assert.deepEqual(
      new Map(conditions.map((one) => [one.type, one.status])),
      new Map([
        ['Ready', 'False'],
        ['DiskPressure', 'False'],
      ]),
    )
  })

  it('by apply creates, owns and takes back', async () => {
    const config = (data: object) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'applied'},
      data,
    })
    const at = (manager: string) => `${PATH}/applied?fieldManager=${manager}`
    const first = await api.patch(at('one'), config({a: '1', b: '1'}), 'apply')
    assert.equal(first.status, 201)
    const conflict = await api.patch(at('two'), config({a: '2'}), 'apply')
    assert.deepEqual([conflict.status, conflict.body.reason], [409, 'Conflict'])
    assert.equal(conflict.body.details.causes[0].field, '.data.a')
    const forced = await api.patch(`${at('two')}&force=true`, config({a: '2'}), 'apply')
    assert.deepEqual(forced.body.data, {a: '2', b: '1'})
    const less = await api.patch(at('one'), config({}), 'apply')
    assert.deepEqual(less.body.data, {a: '2'})
  })

  it('is a precondition where it names a revision', async () => {
    const {status} = await api.patch(url, {metadata: {resourceVersion: '1'}, data: {a: '1'}})
    assert.equal(status, 409)
    const {resourceVersion} = (await api.get(url)).body.metadata
    const right = await api.patch(url, {metadata: {resourceVersion}, data: {a: '1'}})
    assert.equal(right.status, 200)
  })

  it('stores nothing with dryRun=All', async () => {
    const before = await storage.revision()
    const {body} = await api.patch(`${url}?dryRun=All`, {data: {a: '1'}})
    assert.deepEqual(body.data, {one: '1', two: '2', a: '1'})
    assert.equal(await storage.revision(), before)
  })

  it('warns of fields that are not known, or refuses them with fieldValidation=Strict', async () => {
    const warned = await api.patch(url, {bar: 1})
    assert.deepEqual(warned.headers.Warning, ['299 - "unknown field \\"bar\\""'])
    const strict = await api.patch(`${url}?fieldValidation=Strict`, {bar: 1})
    assert.equal(strict.status, 422)
    assert.match(strict.body.message, /strict decoding error: unknown field "bar"/)
  })

  const refusals: {
    name: string
    at?: string
    body: unknown
    kind?: string
    type?: string
    status: number
    message: string
  }[] = [
    {
      name: 'what is not there',
      at: `${PATH}/none`,
      body: {},
      status: 404,
      message: 'configmaps "none" not found',
    },
    {
      name: 'a media type that is no patch',
      body: {},
      type: 'application/json',
      status: 415,
      message: '415: Unsupported Media Type',
    },
    {
      name: 'a strategic merge of a custom kind',
      at: `${MACHINES}/none`,
      body: {},
      kind: 'strategic-merge',
      status: 415,
      message: '',
    },
    {
      name: 'a JSON patch that is no array',
      body: {},
      kind: 'json',
      status: 400,
      message: 'error decoding patch: ',
    },
    {
      name: 'a test that fails',
      body: [{op: 'test', path: '/data/one', value: 'x'}],
      kind: 'json',
      status: 422,
      message: 'the server rejected our request due to an error in our request',
    },
    {
      name: '100,000 operations',
      body: Array.from({length: 100_000}, () => ({op: 'add', path: '/data/a', value: '1'})),
      kind: 'json',
      status: 413,
      message: '',
    },
    {
      name: 'a body that is no JSON',
      body: '{"data":',
      status: 400,
      message: 'error decoding patch: ',
    },
    {
      name: 'another name',
      body: {metadata: {name: 'b'}},
      status: 400,
      message: 'the name of the object (b) does not match the name on the URL (a)',
    },
    {
      name: 'another namespace',
      body: {metadata: {namespace: 'kube-system'}},
      status: 400,
      message: 'the namespace of the provided object does not match',
    },
    {
      name: 'a value of the wrong type',
      body: {data: ['x']},
      status: 422,
      message: 'patch: Invalid value',
    },
    {
      name: 'force without apply',
      at: `${PATH}/a?force=true`,
      body: {},
      status: 422,
      message: 'force: Forbidden: may not be specified for non-apply patch',
    },
    {
      name: 'an apply without a field manager',
      body: {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}},
      kind: 'apply',
      status: 422,
      message: 'fieldManager: Required value: is required for apply patch',
    },
    {
      name: 'an apply that is no object',
      at: `${PATH}/a?fieldManager=m`,
      body: '- a',
      kind: 'apply',
      status: 400,
      message: 'error decoding YAML',
    },
  ]
  for (const {name, at = url, body, kind = 'merge', type, status, message} of refusals) {
    it(`refuses ${name}`, async () => {
      const before = await storage.revision()
      const answer =
        type === undefined
          ? await api.patch(at, body, kind)
          : await api.call('PATCH', at, {body, type})
      assert.equal(answer.status, status, answer.text.slice(0, 300))
      assert.ok(answer.body.message.includes(message), answer.body.message)
      assert.equal(await storage.revision(), before)
    })
  }
})
