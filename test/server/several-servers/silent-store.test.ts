import assert from 'node:assert/strict'
import {SharedStore, type SharedStorage} from '../../storage/shared-storage.ts'
import {until, type Answer} from '../support.ts'
import {bootstrapToken, letReaders, startMembers, type Member} from './support.ts'

const DEFAULT = '/api/v1/namespaces/default'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
const apiGroup = 'rbac.authorization.k8s.io'
const review = {spec: {user: 'jane', nonResourceAttributes: {path: '/', verb: 'get'}}}

const binding = (name: string) => ({
  metadata: {name},
  roleRef: {apiGroup, kind: 'ClusterRole', name: 'cluster-admin'},
  subjects: [{apiGroup, kind: 'User', name: 'jane'}],
})

describe('a server without news of the store', () => {
  let time: number
  let handle: SharedStorage
  let one: Member
  let two: Member

  beforeEach(async () => {
    time = 0
    const store = new SharedStore()
    const memoryAge = {now: () => time}
    ;[one, two] = (await startMembers(() => (handle = store.open()), {memoryAge})) as [
      Member,
      Member,
    ]
  })
  afterEach(async () => {
    await one.server.stop()
    await two.server.stop()
  })

  /** From now on the second server gets no answer of the store, or an error at once. */
  function cutOff(answer: () => Promise<number> = () => Promise.reject(new Error('no route'))) {
    const {revision} = handle
    handle.revision = answer
    return () => (handle.revision = revision)
  }
  const never = () => new Promise<number>(() => undefined)
  const statusOf = async (call: Promise<Answer>) => (await call).status

  it('answers nothing but probes and the version after ten seconds, until it hears again', async () => {
    const {api} = two
    assert.equal(await statusOf(one.api.post(BINDINGS, binding('jane'))), 201)
    const jane = api.as('jane')
    const memoryOnly = `${DEFAULT}/secrets?resourceVersion=0`
    assert.equal(await statusOf(jane.get(memoryOnly)), 200)
    const heal = cutOff()
    await one.api.delete(`${BINDINGS}/jane`)
    time = 10_001

    const refused = await Promise.all([
      jane.get(memoryOnly),
      jane.get(`${DEFAULT}/secrets`),
      jane.post(REVIEWS, review),
      jane.post(`${DEFAULT}/configmaps`, {metadata: {name: 'c'}}),
      jane.delete(`${DEFAULT}/configmaps/c`),
      api.get('/metrics'),
      api.get('/api'),
      api.anonymous().get('/healthz'),
    ])
    assert.deepEqual(new Set(refused.map(({status}) => status)), new Set([503]))
    for (const {headers, text} of refused) {
      assert.equal(headers['Retry-After'], '1')
      assert.match(text, /no news of the store for 10 s/)
    }
    for (const path of ['/livez', '/version'])
      assert.equal(await statusOf(api.anonymous().get(path)), 200)
    assert.match((await api.anonymous().get('/readyz')).text, /\[-\]cache failed/)
    assert.match((await api.get('/readyz/cache')).text, /no news of the store for 10 s/)

    heal()
    assert.equal(await statusOf(api.get('/readyz')), 200)
    assert.equal(await statusOf(jane.get(memoryOnly)), 403)
  })

  it('ends what waits for the store, and the watches of others than its own controllers', async () => {
    const token = bootstrapToken('silent')
    await letReaders(one)
    await token.give(one)
    const headers = {authorization: `Bearer ${token.text}`}
    await until(async () => (await token.use(two)) === 200)
    const watch = await two.api.anonymous().watch('/api/v1/namespaces', {headers})
    const own = await two.api.watch('/api/v1/namespaces')
    await watch.first(1)

    cutOff(never)
    const waiting = [
      two.api.get(`${DEFAULT}/configmaps`),
      two.api.post(`${DEFAULT}/configmaps`, {metadata: {name: 'c'}}),
      two.api.post(REVIEWS, review),
      two.api.delete(`${DEFAULT}/configmaps/c`),
    ]
    time = 10_001
    assert.deepEqual(await Promise.all(waiting.map(statusOf)), [503, 503, 503, 503])
    await watch.ended
    const last = watch.events.at(-1)
    assert.deepEqual([last?.type, last?.object.code], ['ERROR', 503])
    assert.ok(two.server.errors.some((line) => /get 503 until .* no news .* 10 s/.test(line)))
    assert.ok(own.events.every(({type}) => type === 'ADDED'))
    await own.stop()
  })

  it('counts an idle store as heard, also after it was stopped itself', async () => {
    time = 3_600_000
    assert.equal(await statusOf(two.api.get(`${DEFAULT}/secrets?resourceVersion=0`)), 200)
    time += 2000
    await until(() => two.server.cache().age === 0)
  })

  it('creates nothing while it cannot read the store again, and says so', async () => {
    const jane = two.api.as('jane')
    assert.equal(await statusOf(one.api.post(BINDINGS, binding('jane'))), 201)
    assert.equal(await statusOf(jane.get(`${DEFAULT}/secrets`)), 200)
    handle.failure = new Error('etcd sent too much')
    handle.loseEvents()
    await one.api.delete(`${BINDINGS}/jane`)
    assert.equal(await statusOf(jane.post(`${BINDINGS}?timeout=20ms`, binding('own'))), 504)
    time = 10_001
    assert.equal(await statusOf(jane.post(BINDINGS, binding('own'))), 503)
    assert.equal(await statusOf(two.api.get('/readyz/cache')), 500)
    handle.failure = undefined
    await until(async () => (await statusOf(two.api.get('/readyz/cache'))) === 200)
    assert.equal(await statusOf(jane.post(BINDINGS, binding('own'))), 403)
    assert.equal(await statusOf(one.api.get(`${BINDINGS}/own`)), 404)
  })
})
