import assert from 'node:assert/strict'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {get1, type HttpOptions} from '../http/support.ts'
import {Api} from '../support.ts'

const KIB = 1024
const TOKEN = 'abcdef.0123456789abcdef'
const RBAC = 'rbac.authorization.k8s.io'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

describe('the body of a request', () => {
  let server: TestServer
  before(async () => {
    server = await startTestServer({controllers: false})
    const api = new Api(server.handler)
    const secret = toSecret({
      token: parseToken(TOKEN),
      description: '',
      usages: {signing: false, authentication: true},
      groups: [],
    })
    assert.equal((await api.post('/api/v1/namespaces/kube-system/secrets', secret)).status, 201)
    const binding = {
      metadata: {name: 'tokens-may-ask'},
      subjects: [{apiGroup: RBAC, kind: 'Group', name: 'system:bootstrappers'}],
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: 'system:node-bootstrapper'},
    }
    assert.equal((await api.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding)).status, 201)
  })
  after(() => server.stop())

  const post = (path: string, bytes: number, more: HttpOptions) =>
    get1(server, path, {
      ...more,
      method: 'POST',
      headers: {...more.headers, 'content-type': 'application/json'},
      body: Buffer.from(`{"metadata":{"name":"large"}}`.padEnd(bytes)),
    })
  const byToken = (bytes: number) =>
    post(CSRS, bytes, {headers: {authorization: `Bearer ${TOKEN}`}})
  const byNode = async (bytes: number) => {
    const credentials = await server.credentialsFor('system:node:n1', ['system:nodes'])
    return post('/api/v1/nodes', bytes, {credentials})
  }

  it('of a bootstrap token is refused above 64 KiB, before it is read', async () => {
    const {status, text} = await byToken(64 * KIB + 1)
    assert.equal(status, 413, text)
    assert.match(text, /Request entity too large: limit is 65536/)
    assert.equal((await byToken(64 * KIB)).status, 422)
  })

  it('of a node is refused above 320 KiB, before it is read', async () => {
    const {status, text} = await byNode(320 * KIB + 1)
    assert.equal(status, 413, text)
    assert.match(text, /Request entity too large: limit is 327680/)
    // Read, and not its own Node.
    assert.equal((await byNode(320 * KIB)).status, 403)
  })
})
