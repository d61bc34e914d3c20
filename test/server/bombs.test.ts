import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {get1} from './http/support.ts'
import {Api} from './support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const MIB = 1024 * 1024

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const aliases = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...Array.from('bcdefghi', (letter, index) => {
    const before = 'abcdefgh'.charAt(index)
    return `${letter}: &${letter} [${Array.from({length: 9}, () => `*${before}`).join(', ')}]`
  }),
].join('\n')

describe('bodies made to exhaust the server', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post(PATH, {metadata: {name: 'a'}})
  })
  after(() => server.stop())

  const bombs: {name: string; method: string; type: string; body: string}[] = [
    {name: 'deep JSON objects', method: 'POST', type: 'application/json', body: nested(100_000)},
    {
      name: 'deep JSON arrays',
      method: 'POST',
      type: 'application/json',
      body: `{"metadata":{"name":"b"},"data":${'['.repeat(1_000_000)}`,
    },
    {
      name: 'deep JSON in a known field',
      method: 'POST',
      type: 'application/json',
      body: `{"metadata":{"name":"b","labels":${nested(50_000)}}}`,
    },
    {name: 'YAML aliases of aliases', method: 'POST', type: 'application/yaml', body: aliases},
    {
      name: 'deep YAML',
      method: 'POST',
      type: 'application/yaml',
      body: `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    },
    {
      name: 'YAML aliases in an apply',
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body: aliases,
    },
    {
      name: 'a deep merge patch',
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: nested(100_000),
    },
    {
      name: 'a deep strategic merge patch',
      method: 'PATCH',
      type: 'application/strategic-merge-patch+json',
      body: nested(100_000),
    },
    {
      name: 'a JSON patch that copies what it has copied',
      method: 'PATCH',
      type: 'application/json-patch+json',
      body: JSON.stringify([
        {op: 'add', path: '/data', value: {a: 'x'.repeat(1000)}},
        ...Array.from({length: 40}, (_, index) => ({
          op: 'copy',
          from: '/data',
          path: `/data/c${index}`,
        })),
      ]),
    },
    {
      name: 'a protobuf that says it is longer than it is',
      method: 'POST',
      type: 'application/vnd.kubernetes.protobuf',
      body: 'k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\xff\xff\xff\xff\x07',
    },
  ]
  for (const {name, method, type, body} of bombs) {
    it(`are refused: ${name}`, async () => {
      const before = process.memoryUsage().heapUsed
      const url = method === 'PATCH' ? `${PATH}/a?fieldManager=m` : PATH
      const answer = await api.call(method, url, {type, body: Buffer.from(body, 'latin1')})
      assert.ok(
        [400, 413, 422].includes(answer.status),
        `${answer.status} ${answer.text.slice(0, 200)}`,
      )
      const grown = process.memoryUsage().heapUsed - before
      assert.ok(grown < 256 * MIB, `${Math.round(grown / MIB)} MiB`)
      assert.deepEqual(server.errors, [])
    })
  }

  it('are refused: 4 MiB, over a socket', async () => {
    const credentials = await server.credentialsFor('admin', ['system:masters'])
    const {status, text} = await get1(server, PATH, {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: Buffer.alloc(4 * MIB, 32),
      credentials,
    })
    assert.equal(status, 413)
    assert.equal((JSON.parse(text) as {reason: string}).reason, 'RequestEntityTooLarge')
  })

  it('leave the server answering', async () => {
    assert.equal((await api.get(`${PATH}/a`)).status, 200)
  })
})
