import assert from 'node:assert/strict'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {get1} from '../http/support.ts'
import {Api} from '../support.ts'

const KIB = 1024
const TOKEN = 'abcdef.0123456789abcdef'
const RBAC = 'rbac.authorization.k8s.io'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

describe('the body of a request with a bootstrap token', () => {
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

  const send = (bytes: number) =>
    get1(server, CSRS, {
      method: 'POST',
      headers: {authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json'},
      body: Buffer.from(`{"metadata":{"name":"large"}}`.padEnd(bytes)),
    })

  it('is refused above 64 KiB, before it is read', async () => {
    const {status, text} = await send(64 * KIB + 1)
    assert.equal(status, 413, text)
    assert.match(text, /Request entity too large: limit is 65536/)
  })

  it('is read up to 64 KiB', async () => {
    const {status, text} = await send(64 * KIB)
    assert.equal(status, 422, text)
  })
})
