import assert from 'node:assert/strict'
import {once} from 'node:events'
import type {IncomingMessage} from 'node:http'
import {request} from 'node:https'
import {text as textOf} from 'node:stream/consumers'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {startFaultyProxy, type FaultyProxy} from '../../storage/etcd/faulty-proxy.ts'
import {compactEtcd} from '../../storage/etcd/support.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
/** Where the tests that count objects have nothing else. */
const APART = '/api/v1/namespaces/kube-public/configmaps'
/** What the etcd of these tests takes, which is less than the server does. */
const MOST_REQUEST = 200_000

describeWithEtcd('an API server', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster
  let proxy: FaultyProxy
  /** Reaches etcd through the proxy. */
  let server: TestServer
  /** The same objects, without a fault. */
  let other: TestServer
  let direct: Api

  /** What ends all that was started, also if one of the starts failed. */
  const ends: (() => Promise<void>)[] = []

  before(async () => {
    cluster = await startEtcd({args: ['--max-request-bytes', String(MOST_REQUEST)]})
    ends.unshift(() => cluster.stop())
    proxy = await startFaultyProxy(cluster.servers[0] ?? '')
    ends.unshift(() => proxy.stop())
    server = await start([proxy.url])
    other = await start(cluster.servers)
    direct = new Api(other.handler)
  })
  afterEach(() => proxy.heal())
  after(async () => {
    for (const end of ends) await end()
  })

  async function start(servers: string[], patience?: number): Promise<TestServer> {
    const options = patience === undefined ? {} : {patience}
    const storage = await openEtcdStorage({servers, prefix: '/test'}, options)
    ends.unshift(() => storage.close())
    const started = await startTestServer({storage, controllers: false})
    ends.unshift(() => started.stop())
    return started
  }

  /** Over a connection of its own, as an administrator. */
  async function callOf({url, ca, credentialsFor}: TestServer) {
    const {certificate: cert, key} = await credentialsFor('admin', ['system:masters'])
    const options = {ca, cert, key, agent: false, headers: {'content-type': 'application/json'}}
    return async (method: string, path: string, body?: object) => {
      const sent = request(`${url}${path}`, {...options, method}).end(body && JSON.stringify(body))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      const text = await textOf(answer)
      const {reason, message = ''} = JSON.parse(text) as {reason?: string; message?: string}
      return {status: answer.statusCode, reason, message, text}
    }
  }

  const configMap = (name: string, data = {}) => ({metadata: {name}, data})

  it('reads everything again if what it missed was compacted, and ends its watches with 410', async () => {
    for (const name of ['changed', 'deleted']) await direct.post(APART, configMap(name))
    const api = new Api(server.handler)
    const watch = await api.watch(APART)
    await watch.first(2)
    proxy.freeze()
    await direct.post(APART, configMap('created'))
    await direct.patch(`${APART}/changed`, {data: {k: 'v'}})
    const {body} = await direct.delete(`${APART}/deleted`)
    assert.equal(body.status, 'Success')
    const {metadata} = (await direct.get(APART)).body
    await compactEtcd(cluster, Number(metadata.resourceVersion))
    proxy.heal()

    await watch.ended
    const last = watch.events.at(-1)
    assert.deepEqual([last?.type, last?.object.code], ['ERROR', 410])
    const {items} = (await api.get(APART)).body
    assert.deepEqual(
      items.map((item) => [item.metadata.name, item.data as unknown]),
      [
        ['changed', {k: 'v'}],
        ['created', undefined],
      ],
    )
    const since = (await api.get(APART)).body.metadata.resourceVersion
    const again = await api.watch(`${APART}?resourceVersion=${since}`)
    await direct.post(APART, configMap('later'))
    assert.deepEqual(await again.summary(1), ['ADDED later'])
    await again.stop()
  })

  it('answers 410 to a watch from before what was compacted', async () => {
    const {body} = await direct.post(PATH, configMap('a'))
    await direct.patch(`${PATH}/a`, {data: {k: 'v'}})
    const newest = (await direct.get(PATH)).body.metadata.resourceVersion
    await compactEtcd(cluster, Number(newest))
    // It has started after the changes, so that they are not in its memory.
    const third = await start(cluster.servers)
    const watch = await new Api(third.handler).watch(
      `${PATH}?resourceVersion=${body.metadata.resourceVersion}`,
    )
    await watch.ended
    assert.deepEqual([watch.events[0]?.type, watch.events[0]?.object.code], ['ERROR', 410])
  })

  it('answers 503 while etcd cannot be reached, but what may be old from memory', async () => {
    await direct.post(PATH, configMap('seen'))
    const way = await startFaultyProxy(cluster.servers[0] ?? '')
    const cut = await start([way.url], 4_000)
    const call = await callOf(cut)
    await way.stop()
    const [write, get, list] = await Promise.all([
      call('POST', PATH, configMap('unseen')),
      call('GET', `${PATH}/seen`),
      call('GET', PATH),
    ])
    assert.deepEqual([write.status, write.reason], [503, 'ServiceUnavailable'])
    assert.match(write.message, /the store does not respond/)
    assert.deepEqual([get.status, list.status], [503, 503])
    assert.equal((await call('GET', `${PATH}/seen?resourceVersion=0`)).status, 200)
    assert.equal((await direct.get(`${PATH}/unseen`)).status, 404)
  })

  it('answers 504 to a write that may have been done', async () => {
    const call = await callOf(server)
    await call('POST', PATH, configMap('doubtful'))
    proxy.loseAnswersTo('request_delete_range', () => proxy.heal())
    const {status, reason} = await call('DELETE', `${PATH}/doubtful`)
    assert.deepEqual([status, reason], [504, 'Timeout'])
    assert.equal((await direct.get(`${PATH}/doubtful`)).status, 404)
  })

  it('answers 413 to what is larger than etcd takes', async () => {
    const call = await callOf(server)
    const {status, reason, text} = await call('POST', PATH, configMap('large', {k: large()}))
    assert.deepEqual([status, reason], [413, 'RequestEntityTooLarge'])
    assert.ok(text.length < 1_000)
    assert.equal((await call('GET', `${PATH}/large`)).status, 404)
  })
})

const large = () => 'x'.repeat(MOST_REQUEST)
