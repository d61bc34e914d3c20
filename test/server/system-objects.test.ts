import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {TrustError} from '../../src/errors.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {bootstrapPolicy} from '../../src/server/authz/bootstrap-policy/index.ts'
import {republishTrust} from '../../src/server/system-objects.ts'
import {servingMaterial} from './http/support.ts'
import {startTestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {Api} from './support.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

describe('what a cluster has from its first start', () => {
  /** The servers of one test share it; none of them closes it. */
  function shared(): {storage: Storage; close: () => Promise<void>} {
    const storage = openMemoryStorage()
    const close = storage.close.bind(storage)
    storage.close = () => Promise.resolve()
    return {storage, close}
  }

  it('is created even if the store does not confirm the first attempt', async () => {
    const storage = openMemoryStorage()
    const create = storage.create.bind(storage)
    const unconfirmed = new Set<string>()
    storage.create = async (key, value) => {
      const entry = await create(key, value)
      if (unconfirmed.has(key) || !key.includes('/clusterroles/')) return entry
      unconfirmed.add(key)
      throw new TrustError('STORE_UNCERTAIN', 'not confirmed')
    }
    const server = await startTestServer({storage, controllers: false})
    const {body} = await new Api(server.handler).get(`${RBAC}/clusterroles`)
    assert.equal(body.items.length, bootstrapPolicy().clusterRoles.length)
    assert.equal(unconfirmed.size, body.items.length)
    await server.stop()
  })

  it('is everything that clients count on', async () => {
    const server = await startTestServer({
      controllers: false,
      trust: {bundles: {'front-proxy': {certificates: [], pem: 'front proxy CA'}}},
    })
    const api = new Api(server.handler)
    for (const name of [
      'default',
      'kube-system',
      'kube-public',
      'kube-node-lease',
      'trustadm-system',
    ]) {
      const {body} = await api.get(`/api/v1/namespaces/${name}`)
      assert.deepEqual(body.metadata.labels, {'kubernetes.io/metadata.name': name})
      assert.deepEqual([body.spec.finalizers, body.status.phase], [['kubernetes'], 'Active'])
    }
    const policy = bootstrapPolicy()
    const wanted: [string, number][] = [
      ['clusterroles', policy.clusterRoles.length],
      ['clusterrolebindings', policy.clusterRoleBindings.length],
      ['roles', policy.roles.length],
      ['rolebindings', policy.roleBindings.length],
    ]
    for (const [plural, count] of wanted) {
      const {body} = await api.get(`${RBAC}/${plural}`)
      assert.equal(body.items.length, count, plural)
    }
    const service = (await api.get('/api/v1/namespaces/default/services/kubernetes')).body
    assert.deepEqual(service.metadata.labels, {component: 'apiserver', provider: 'kubernetes'})
    assert.equal(service.spec.clusterIP, '10.96.0.1')
    assert.deepEqual(service.spec.ports, [
      {name: 'https', port: 443, protocol: 'TCP', targetPort: server.port},
    ])
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    const {data} = (await api.get(path)).body
    assert.equal(data['client-ca-file'], server.ca)
    assert.equal(data['requestheader-client-ca-file'], 'front proxy CA')
    assert.deepEqual(JSON.parse(data['requestheader-username-headers']), ['X-Remote-User'])
    await server.stop()
  })

  it('is left as it is by a second start: nothing is written', async () => {
    const {storage, close} = shared()
    const tls = await servingMaterial()
    const bundle = bundleOf(tls.clientAuthorities)
    const trust = {serving: tls, bundles: {client: bundle, 'front-proxy': bundle}}
    const first = await startTestServer({storage, controllers: false, trust})
    await first.stop()
    const revision = await storage.revision()
    const second = await startTestServer({
      storage,
      controllers: false,
      port: first.port,
      trust,
    })
    assert.equal(await storage.revision(), revision)
    await second.stop()
    await close()
  })

  it('is put right by the next start where it was changed, but for what is not to be updated', async () => {
    const {storage, close} = shared()
    const first = await startTestServer({storage, controllers: false})
    const api = new Api(first.handler)
    await api.patch(`${RBAC}/clusterroles/system:node-proxier`, {rules: []})
    await api.patch(`${RBAC}/clusterroles/system:discovery`, {
      metadata: {annotations: {'rbac.authorization.kubernetes.io/autoupdate': 'false'}},
      rules: [],
    })
    await api.delete(`${RBAC}/clusterrolebindings/system:basic-user`)
    await api.delete('/api/v1/namespaces/kube-node-lease')
    await api.put('/api/v1/namespaces/kube-node-lease/finalize', {
      metadata: {name: 'kube-node-lease'},
      spec: {finalizers: []},
    })
    await api.post(`${RBAC}/clusterroles`, {metadata: {name: 'mine'}, rules: []})
    await first.stop()

    const second = await startTestServer({storage, controllers: false})
    const again = new Api(second.handler)
    const rules = async (name: string) =>
      (await again.get(`${RBAC}/clusterroles/${name}`)).body.rules as unknown[] | undefined
    assert.ok((await rules('system:node-proxier'))!.length > 0)
    assert.deepEqual((await rules('system:discovery')) ?? [], [])
    assert.equal((await again.get(`${RBAC}/clusterrolebindings/system:basic-user`)).status, 200)
    assert.equal((await again.get('/api/v1/namespaces/kube-node-lease')).status, 200)
    assert.equal((await again.get(`${RBAC}/clusterroles/mine`)).status, 200)
    const {body} = await again.get('/api/v1/namespaces/default/services/kubernetes')
    assert.equal(body.spec.ports[0].targetPort, second.port)
    await second.stop()
    await close()
  })

  describe('looks again', () => {
    const errors: string[] = []
    let outcomes: (() => Promise<void>)[]
    let published: number
    let stop: () => void
    beforeEach(() => {
      mock.timers.enable({apis: ['setTimeout']})
      published = 0
      outcomes = []
      const publish = () => {
        published++
        return outcomes.shift()?.() ?? Promise.resolve()
      }
      stop = republishTrust({subscribe: () => () => undefined}, publish, (error) =>
        errors.push(String(error)),
      )
    })
    afterEach(() => {
      stop()
      mock.timers.reset()
    })
    const pass = async (milliseconds: number) => {
      mock.timers.tick(milliseconds)
      await new Promise(setImmediate)
      return published
    }

    it('every minute, and soon after a failure', async () => {
      assert.equal(await pass(59_999), 0)
      outcomes.push(() => Promise.reject(new Error('away')))
      assert.equal(await pass(1), 1)
      assert.deepEqual(errors.splice(0), ['Error: away'])
      assert.equal(await pass(10_000), 2)
      assert.equal(await pass(10_000), 2)
      assert.equal(await pass(50_000), 3)
    })

    it('no more once it is stopped, not even after an attempt that was under way', async () => {
      let end: () => void = () => undefined
      outcomes.push(() => new Promise((resolve) => (end = resolve)))
      assert.equal(await pass(60_000), 1)
      stop()
      end()
      assert.equal(await pass(120_000), 1)
    })
  })

  it('is ready only when it is there', async () => {
    const server = await startTestServer({controllers: false})
    const {text} = await new Api(server.handler).get('/readyz?verbose')
    assert.match(text, /\[\+\]poststarthook\/rbac\/bootstrap-roles ok/)
    await server.stop()
  })

  it('ends a start that cannot make it, and leaves nothing open', async () => {
    const storage = openMemoryStorage()
    storage.create = () => Promise.reject(new Error('read-only'))
    await assert.rejects(
      startTestServer({storage, controllers: false}),
      /^Error: cannot POST \S+: [^{]+$/,
    )
    await storage.close()
  })
})
