import assert from 'node:assert/strict'
import fc from 'fast-check'
import {RESOURCES} from '../../src/server/resources/index.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {Api} from './support.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const MACHINES = '/apis/machine.openshift.io/v1beta1/namespaces/default/machines'
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('odd requests', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post(MAPS, {metadata: {name: 'a'}})
    await api.post(MACHINES, {metadata: {name: 'a'}})
  })
  after(() => server.stop())
  afterEach(() => assert.deepEqual(server.errors, [], 'nothing is a fault of the server itself'))

  it('a Machine without metadata has no name, and is refused for that', async () => {
    const {status, body} = await api.post(MACHINES, {spec: {}})
    assert.equal(status, 422)
    assert.match(body.message, /metadata.name: Required value/)
  })

  for (const kind of ['merge', 'json']) {
    it(`a ${kind} patch that takes the metadata off a Machine is refused`, async () => {
      const change = {merge: {metadata: null}, json: [{op: 'remove', path: '/metadata'}]}[kind]
      assert.equal((await api.patch(`${MACHINES}/a`, change, kind)).status, 400)
    })
  }

  it('an empty dryRun is refused, and nothing is written', async () => {
    const {status, body} = await api.post(`${MAPS}?dryRun=`, {metadata: {name: 'dry'}})
    assert.equal(status, 422)
    assert.match(body.message, /dryRun: Unsupported value: \[""\]: supported values: "All"/)
    assert.equal((await api.get(`${MAPS}/dry`)).status, 404)
    assert.equal((await api.call('DELETE', `${MAPS}/a?dryRun=`)).status, 422)
    assert.equal((await api.get(`${MAPS}/a`)).status, 200)
  })

  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: odd\ndata:\n  a: '
  const oddTexts: [name: string, body: Buffer][] = [
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(yaml), Buffer.of(0xff, 0xfe)])],
    ['half a character', Buffer.concat([Buffer.from(yaml), Buffer.of(0xed, 0xa0, 0x80)])],
    ['half a character as an escape', Buffer.from(`${yaml}"\\ud800"`)],
    [
      'half a character as an escape in JSON',
      Buffer.from('{"metadata":{"name":"odd"},"data":{"a":"\\udc00"}}'),
    ],
    ['a control character', Buffer.from(`${yaml}"\u0001"`)],
    ['a control character of Latin-1', Buffer.from(`${yaml}"\u0080"`)],
    ['a NUL', Buffer.from(`${yaml}x\0`)],
  ]
  for (const [name, body] of oddTexts) {
    it(`YAML with ${name} is refused and not stored`, async () => {
      const created = await api.call('POST', MAPS, {type: 'application/yaml', body})
      assert.equal(created.status, 400, created.text)
      const applied = await api.call('PATCH', `${MAPS}/odd?fieldManager=m`, {
        type: 'application/apply-patch+yaml',
        body,
      })
      assert.equal(applied.status, 400, applied.text)
      assert.equal((await api.get(`${MAPS}/odd`)).status, 404)
    })
  }

  for (const resourceVersion of ['/', 'x', '+5', '-1', '00', '99999999999999999999999']) {
    it(`a create with the resourceVersion ${resourceVersion} creates, as in Kubernetes`, async () => {
      const metadata = {generateName: 'a-', resourceVersion}
      assert.equal((await api.post(MAPS, {metadata})).status, 201)
    })
  }

  it('a create with the resourceVersion of a store is refused', async () => {
    const {body} = await api.post(MAPS, {metadata: {name: 'versioned', resourceVersion: '5'}})
    assert.equal(body.message, 'resourceVersion should not be set on objects to be created')
  })

  const deep: [name: string, kind: string, body: string][] = [
    ['merge patch', 'merge', nested(5000)],
    ['strategic merge patch', 'strategic-merge', nested(5000)],
    ['JSON patch', 'json', `[{"op":"add","path":"/data","value":${nested(5000)}}]`],
    ['apply', 'apply', nested(5000)],
    ['apply in YAML', 'apply', '- '.repeat(7000)],
    [
      'JSON patch that nests by moving',
      'json',
      JSON.stringify([
        {
          op: 'add',
          path: '/data',
          value: Object.fromEntries(Array.from({length: 2000}, (_, index) => [`k${index}`, {}])),
        },
        ...Array.from({length: 1999}, (_, index) => ({
          op: 'move',
          from: `/data/k${index}`,
          path: `/data/k${index + 1}/x`,
        })),
      ]),
    ],
    [
      'JSON patch that nests by copying',
      'json',
      JSON.stringify([
        {op: 'add', path: '/data', value: {}},
        ...Array.from({length: 16}, () => ({op: 'copy', from: '/data', path: `/data/x`})),
      ]),
    ],
  ]
  for (const [name, kind, body] of deep) {
    it(`a deep ${name} is refused`, async () => {
      const {status, text} = await api.patch(`${MAPS}/a?fieldManager=m`, body, kind)
      assert.ok([400, 413, 422].includes(status), `${status} ${text.slice(0, 200)}`)
    })
  }

  const names = [
    'x'.repeat(600),
    'x'.repeat(3000),
    '€'.repeat(600),
    '\ud800',
    'x'.repeat(1_000_000),
  ]
  for (const name of names) {
    it(`a name of ${name.length} times ${JSON.stringify(name[0])} is refused, for a create and in a path`, async () => {
      for (const path of [MAPS, ROLES, CSRS, MACHINES]) {
        const {status, text} = await api.post(path, {metadata: {name}, rules: []})
        assert.equal(status, 422, text.slice(0, 300))
        if (name.length > 8000 || name === '\ud800') continue
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await api.call(method, `${path}/${encodeURIComponent(name)}`, {
            body: {metadata: {name}},
            type: method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          })
          assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${answer.status}`)
        }
      }
    })
  }

  it('the longest name of a role is stored', async () => {
    assert.equal(
      (await api.post(ROLES, {metadata: {name: '€'.repeat(512)}, rules: []})).status,
      201,
    )
  })

  it('of any shape are never the fault of the server', async () => {
    const paths = RESOURCES.map(({group, version, plural, namespaced}) =>
      [
        group === '' ? '/api' : `/apis/${group}`,
        `/${version}`,
        namespaced ? '/namespaces/default' : '',
        `/${plural}`,
      ].join(''),
    )
    const key = fc.constantFrom(
      'metadata',
      'spec',
      'status',
      'name',
      'labels',
      'data',
      'rules',
      '__proto__',
      'subjects',
      'managedFields',
      'ownerReferences',
    )
    const {tree} = fc.letrec((tie) => ({
      tree: fc.oneof(
        {depthSize: 'small', withCrossShrink: true},
        fc.constantFrom(null, '', 'a', '/', 0, -1, 1e300, true, [], {}),
        fc.dictionary(key, tie('tree'), {maxKeys: 4}),
        fc.array(tie('tree'), {maxLength: 3}),
      ),
    }))
    const query = fc.constantFrom(
      '',
      '?dryRun=All',
      '?fieldManager=m',
      '?fieldValidation=Strict',
      '?limit=-1',
      '?continue=a',
      '?labelSelector=!',
      '?watch=x',
      '?timeout=x',
      '?force=1&fieldManager=%00',
      '?resourceVersion=x',
      '?gracePeriodSeconds=99999999999',
    )
    const type = fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
      'application/vnd.kubernetes.protobuf',
      '',
    )
    const call = fc.record({
      method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
      path: fc.constantFrom(
        ...paths,
        ...paths.map((path) => `${path}/a`),
        ...paths.map((path) => `${path}/a/status`),
      ),
      query,
      type,
      body: tree.map((value) => JSON.stringify(value)),
    })
    await fc.assert(
      fc.asyncProperty(call, async ({method, path, query: options, type: contentType, body}) => {
        const answer = await api.call(method, path + options, {type: contentType, body})
        assert.deepEqual(server.errors, [])
        assert.ok(answer.text.length < 64 * 1024)
      }),
      {numRuns: 400},
    )
  })
})
