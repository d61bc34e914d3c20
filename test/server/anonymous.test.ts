import assert from 'node:assert/strict'
import {RESOURCES} from '../../src/server/resources/index.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {Api} from './support.ts'

const OPEN = ['/version', '/version/', '/healthz', '/livez', '/readyz']

const CLOSED = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/rbac.authorization.k8s.io',
  '/apis/rbac.authorization.k8s.io/v1',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/metrics',
  '/healthz/ping',
  '/livez/ping',
  '/readyz/ping',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/logs',
  '/debug/pprof',
  '/nothing',
  '/version/more',
]

describe('a caller without credentials', () => {
  let server: TestServer
  let anybody: Api

  before(async () => {
    server = await startTestServer({
      controllers: false,
      limits: {requests: {anonymousBurst: 100_000, anonymousPerSecond: 100_000}},
    })
    anybody = new Api(server.handler).anonymous()
  })
  after(() => server.stop())

  const ask = (method: string, path: string) =>
    anybody.call(method, path, method === 'GET' || method === 'HEAD' ? {} : {body: {}})

  for (const path of OPEN) {
    it(`may GET ${path}`, async () => assert.equal((await ask('GET', path)).status, 200))
    it(`may not POST ${path}`, async () => assert.equal((await ask('POST', path)).status, 403))
  }

  for (const path of CLOSED) {
    it(`may not GET ${path}`, async () => {
      const {status, body} = await ask('GET', path)
      assert.equal(status, 403)
      assert.match(body.message, /^forbidden: User "system:anonymous" cannot get path /)
    })
  }

  it('may do nothing with any resource, in any version, by any verb', async () => {
    for (const resource of RESOURCES) {
      const {group, plural, version, namespaced, extraVersions = [], subresources = {}} = resource
      for (const one of [version, ...extraVersions.map((extra) => extra.version)]) {
        const base = group === '' ? `/api/${one}` : `/apis/${group}/${one}`
        const scope = namespaced ? '/namespaces/kube-public' : ''
        const collections = [`${base}/${plural}`, `${base}${scope}/${plural}`]
        const objects = ['', ...Object.keys(subresources)].map((sub) =>
          `${base}${scope}/${plural}/x/${sub}`.replace(/\/$/, ''),
        )
        for (const path of [...collections, ...objects]) {
          for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
            const {status} = await ask(method, path)
            assert.equal(status, 403, `${method} ${path}`)
          }
        }
        assert.equal((await ask('GET', `${collections[0]}?watch=true`)).status, 403)
      }
    }
  })

  it('is refused before its body is looked at', async () => {
    let isRead = false
    const {status} = await server.handler({
      method: 'POST',
      path: '/api/v1/namespaces/default/secrets',
      query: new URLSearchParams(),
      headers: {'content-type': 'application/json'},
      rawHeaders: [],
      body: () => {
        isRead = true
        return Promise.resolve(new Uint8Array())
      },
      remoteAddress: '192.0.2.1',
      signal: new AbortController().signal,
    })
    assert.deepEqual([status, isRead], [403, false])
  })
})
