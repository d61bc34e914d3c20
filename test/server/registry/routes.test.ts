import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

describe('routes', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post('/api/v1/namespaces/default/configmaps', {metadata: {name: 'a'}})
  })
  after(() => server.stop())

  const ALLOWED = 'the server does not allow this method on the requested resource'
  const FOUND = 'the server could not find the requested resource'
  const refusals: [string, string, number, string][] = [
    ['GET', '/api/v1/namespaces/default/nothings', 404, FOUND],
    ['GET', '/api/v1/namespaces/default/configmaps/a/nothing', 404, FOUND],
    ['GET', '/api/v1/namespaces/default/configmaps/a/status', 404, FOUND],
    ['GET', '/api/v1/namespaces/default/pods/a/status/more', 404, FOUND],
    ['GET', '/api/v1/namespaces/default/pods/a/scale', 404, FOUND],
    ['GET', '/api/v1/configmaps/a', 404, FOUND],
    ['GET', '/api/v2/configmaps', 404, FOUND],
    ['GET', '/apis/rbac.authorization.k8s.io/v1beta1/clusterroles', 404, FOUND],
    // Judged by the roles of a namespace, so never served there.
    ['GET', '/api/v1/namespaces/default/nodes', 404, FOUND],
    ['GET', `${RBAC}/namespaces/default/clusterroles/admin`, 404, FOUND],
    ['POST', `${RBAC}/namespaces/default/clusterroles`, 404, FOUND],
    ['GET', '/apis/nothing.example.com/v1/things', 404, '404 page not found'],
    ['GET', '/nothing', 404, '404 page not found'],
    ['POST', '/api/v1/configmaps', 405, ALLOWED],
    ['PUT', '/api/v1/namespaces/default/configmaps', 405, ALLOWED],
    ['PATCH', '/api/v1/namespaces/default/configmaps', 405, ALLOWED],
    ['POST', '/api/v1/namespaces/default/configmaps/a', 405, ALLOWED],
    ['DELETE', '/api/v1/namespaces', 405, ALLOWED],
    ['POST', '/api/v1/nodes/n/status', 405, ALLOWED],
    ['GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews', 405, ALLOWED],
    ['OPTIONS', '/api/v1/namespaces/default/configmaps', 405, ALLOWED],
    ['CONSTRUCTOR', '/api/v1/namespaces/default/configmaps', 405, ALLOWED],
    ['POST', '/version', 405, ALLOWED],
    ['DELETE', '/healthz', 405, ALLOWED],
  ]
  for (const [method, path, status, message] of refusals) {
    it(`answer ${status} to ${method} ${path}`, async () => {
      const answer = await api.call(method, path, method === 'GET' ? {} : {body: {}})
      assert.equal(answer.status, status, answer.text)
      assert.ok(answer.text.includes(message), answer.text)
    })
  }

  for (const path of [
    '/api/v1/namespaces/default/../kube-system/secrets',
    '/api/v1/namespaces/default%2f../secrets',
    '/api/v1/namespaces/default/secrets/%00',
    '/api/v1/namespaces/default/secrets/a%2Fb',
    '/api/v1//namespaces/default/secrets',
    '/api/v1/namespaces//secrets',
    '/api/v1/namespaces/default/secrets/%zz',
    '/api/v1/namespaces/default/secrets/a%0d%0ab',
  ]) {
    it(`answer 400 to ${path}, which two readers could take for different ones`, async () => {
      const {status, body} = await api.get(path)
      assert.deepEqual([status, body.reason], [400, 'BadRequest'])
    })
  }

  for (const path of [
    '/api/v1/namespaces/default/configmaps/a',
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/configmaps?watch=true',
    '/apis',
    '/api/v1',
    '/version',
    '/openid/v1/jwks',
  ]) {
    it(`answer 405 to HEAD ${path}, without a body`, async () => {
      const {status, text} = await api.call('HEAD', path)
      assert.deepEqual([status, text], [405, ''])
    })
  }

  for (const path of ['/healthz', '/readyz', '/livez/ping', '/metrics', '/openapi/v2', '/']) {
    it(`answer HEAD ${path} as GET without its body`, async () => {
      const {status, text} = await api.call('HEAD', path)
      assert.deepEqual([status, text], [200, ''])
    })
  }

  it('answer JSON to whatever else is accepted, and 406 to a conversion that nobody knows', async () => {
    const path = '/api/v1/namespaces/default/configmaps/a'
    for (const accept of [
      'application/vnd.kubernetes.protobuf',
      'application/vnd.kubernetes.protobuf,application/json',
      'application/yaml',
      '*/*',
      'text/html',
    ]) {
      const {status, headers} = await api.get(path, {accept})
      assert.deepEqual([status, headers['Content-Type']], [200, 'application/json'], accept)
    }
    const {status, body} = await api.get(path, {
      accept: 'application/json;as=Nonsense;v=v1;g=meta.k8s.io',
    })
    assert.deepEqual([status, body.reason], [406, 'NotAcceptable'])
  })

  it('refuse a timeout that cannot be read, on every path', async () => {
    for (const path of ['/version', '/api/v1/namespaces/default/configmaps/a']) {
      assert.equal((await api.get(`${path}?timeout=soon`)).status, 400)
      assert.equal((await api.get(`${path}?timeout=10s`)).status, 200)
    }
  })
})
