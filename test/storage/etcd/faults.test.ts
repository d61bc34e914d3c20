import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import type {EtcdSettings} from '../../../src/storage/etcd/settings.ts'
import type {Storage} from '../../../src/storage/storage.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {bytes, changesSince, Recorder, revisionsOf, text} from '../conformance-support.ts'
import {startFaultyProxy, type FaultyProxy} from './faulty-proxy.ts'
import {compactEtcd, deleteBelow} from './support.ts'

const encoded = (value: string) => Buffer.from(value).toString('base64')

describeWithEtcd('faults on the way', function () {
  this.timeout(30_000)
  let cluster: EtcdCluster
  let proxies: FaultyProxy[]
  let storage: Storage
  /** The same keys, without a fault. */
  let other: Storage
  let lines: string[]
  let settings: EtcdSettings

  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  beforeEach(async () => {
    lines = []
    const [server = ''] = cluster.servers
    proxies = [await startFaultyProxy(server), await startFaultyProxy(server)]
    const prefix = `/test/${randomUUID()}`
    const servers = proxies.map(({url}) => url)
    settings = {servers, prefix}
    storage = await openEtcdStorage(settings, {tell: (line) => lines.push(line)})
    other = await openEtcdStorage({servers: cluster.servers, prefix})
  })
  afterEach(async () => {
    await storage.close()
    await other.close()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  })

  const healAll = () => proxies.forEach((proxy) => proxy.heal())

  /** The answer to the next request with this text is lost, whichever way it takes to etcd. */
  const loseAnswerTo = (part: string) =>
    proxies.forEach((proxy) => proxy.loseAnswersTo(part, healAll))

  const recorded = async () => {
    const recorder = new Recorder()
    storage.subscribe('/', await storage.revision(), recorder)
    return recorder
  }

  describe('a write whose answer is lost', () => {
    it('was a create, and is done once', async () => {
      const start = await storage.revision()
      const recorder = await recorded()
      loseAnswerTo(encoded('the value'))
      const entry = await storage.create('/a', bytes('the value'))
      assert.deepEqual(await other.get('/a'), entry)
      const changes = await changesSince(other, '/', start)
      assert.deepEqual(revisionsOf(changes), [entry.revision])
      assert.deepEqual(revisionsOf(recorder.events), [entry.revision])
      assert.ok(proxies.some((proxy) => proxy.lost() > 0))
    })

    it('was a create, and does not bring back what was deleted, however late it arrives', async () => {
      let arrive: (() => Promise<void>) | undefined
      for (const proxy of proxies)
        proxy.holdRequest(encoded('the value'), (passOn) => {
          arrive = passOn
          healAll()
        })
      const {revision} = await storage.create('/a', bytes('the value'))
      await storage.delete('/a', revision)
      // As when its lease has ended.
      await deleteBelow(cluster, `${settings.prefix}.fence-`)
      await arrive?.()
      assert.ok(arrive)
      assert.equal(await other.get('/a'), undefined)
      await storage.create('/b', bytes('1'))
      assert.equal(text((await other.get('/b'))?.value), '1')
    })

    it('was a create of a key that exists, and says so', async () => {
      await other.create('/a', bytes('another'))
      loseAnswerTo(encoded('the value'))
      await assert.rejects(storage.create('/a', bytes('the value')), {code: 'ALREADY_EXISTS'})
      assert.equal(text((await other.get('/a'))?.value), 'another')
    })

    it('was an update, and is done once', async () => {
      const before = await storage.create('/a', bytes('before'))
      loseAnswerTo(encoded('the value'))
      const entry = await storage.update('/a', bytes('the value'), before.revision)
      assert.equal(entry.created, before.created)
      assert.deepEqual(await other.get('/a'), entry)
      const changes = await changesSince(other, '/', before.revision)
      assert.deepEqual(revisionsOf(changes), [entry.revision])
    })

    it('was an update of an older revision, and is refused', async () => {
      const before = await storage.create('/a', bytes('before'))
      await other.update('/a', bytes('newer'), before.revision)
      loseAnswerTo(encoded('the value'))
      await assert.rejects(storage.update('/a', bytes('the value'), before.revision), {
        code: 'CONFLICT',
      })
      assert.equal(text((await other.get('/a'))?.value), 'newer')
    })

    it('was a deletion, and nobody can tell whose', async () => {
      const {revision} = await storage.create('/a', bytes('1'))
      loseAnswerTo('request_delete_range')
      await assert.rejects(storage.delete('/a', revision), {code: 'STORE_UNCERTAIN'})
      assert.equal(await other.get('/a'), undefined)
    })

    it('is uncertain if etcd stays away', async () => {
      const freeze = () => proxies.forEach((proxy) => proxy.freeze())
      for (const proxy of proxies) proxy.loseAnswersTo(encoded('the value'), freeze)
      const hasty = await openEtcdStorage(settings, {patience: 1_000})
      await assert.rejects(hasty.create('/a', bytes('the value')), {code: 'STORE_UNCERTAIN'})
      await hasty.close()
      assert.equal(text((await other.get('/a'))?.value), 'the value')
    })
  })

  describe('a write of which etcd says that it is full', () => {
    const full = JSON.stringify({code: 8, message: 'etcdserver: mvcc: database space exceeded'})
    const answer = [
      'HTTP/1.1 429 Too Many Requests',
      'content-type: application/json',
      `content-length: ${full.length}`,
      '',
      full,
    ].join('\r\n')
    const answerFullTo = (part: string) =>
      proxies.forEach((proxy) => proxy.loseAnswersTo(part, () => undefined, answer))

    it('was done nevertheless', async () => {
      answerFullTo(encoded('the value'))
      const entry = await storage.create('/a', bytes('the value'))
      assert.deepEqual(await other.get('/a'), entry)
      healAll()
      answerFullTo(encoded('a newer one'))
      const newer = await storage.update('/a', bytes('a newer one'), entry.revision)
      assert.deepEqual(await other.get('/a'), newer)
      assert.equal(
        proxies.reduce((sum, proxy) => sum + proxy.lost(), 0),
        2,
      )
    })

    it('was not done', async () => {
      await other.create('/a', bytes('another'))
      answerFullTo(encoded('the value'))
      await assert.rejects(storage.create('/a', bytes('the value')), {code: 'STORE_WRITE_FAILED'})
    })
  })

  it('takes another way if the one in use is silent', async () => {
    const recorder = await recorded()
    await storage.create('/a', bytes('1'))
    proxies[0]?.freeze()
    await storage.create('/b', bytes('1'))
    await other.create('/c', bytes('1'))
    const revision = await storage.revision()
    await recorder.until(() => recorder.reached >= revision)
    assert.deepEqual(
      recorder.events.map(({key}) => key),
      ['/a', '/b', '/c'],
    )
    proxies[0]?.heal()
    proxies[1]?.freeze()
    await other.create('/d', bytes('1'))
    const next = await storage.revision()
    await recorder.until(() => recorder.reached >= next)
    assert.deepEqual([recorder.events.at(-1)?.key, recorder.isLost], ['/d', false])
  })

  it('stays with a member that is always a little behind, while others write all the time', async () => {
    proxies.forEach((proxy) => proxy.slowWatches(300))
    const recorder = await recorded()
    const start = await storage.revision()
    // Twice as long as a member may stay behind one revision.
    const end = performance.now() + 5_000
    const isOver = () => performance.now() > end
    const write = async () => {
      for (let count = 0; !isOver(); count++) await other.create(`/${count}`, bytes('1'))
    }
    const ask = async () => {
      while (!isOver()) await storage.revision()
    }
    await Promise.all([write(), ask()])
    const last = await storage.revision()
    await recorder.until(() => recorder.reached >= last)
    assert.deepEqual(lines, [])
    const changes = await changesSince(other, '/', start)
    assert.deepEqual(revisionsOf(recorder.events), revisionsOf(changes))
  })

  it('resumes a watch that was cut, without a gap and without a repeat', async () => {
    const recorder = await recorded()
    for (let round = 0; round < 10; round++) {
      await Promise.all([
        other.create(`/a/${round}`, bytes('1')),
        storage.create(`/b/${round}`, bytes('1')),
      ])
      healAll()
      await other.create(`/c/${round}`, bytes('1'))
    }
    const revision = await storage.revision()
    await recorder.until(() => recorder.reached >= revision)
    const written = (await other.list('/')).entries.map((entry) => entry.revision)
    assert.deepEqual(
      revisionsOf(recorder.events),
      written.sort((one, next) => one - next),
    )
    assert.ok(lines.some((line) => line.includes('was cut')))
  })

  it('reports a watch as lost if what it missed was compacted', async () => {
    const recorder = await recorded()
    const {revision: first} = await storage.create('/a', bytes('1'))
    for (const proxy of proxies) proxy.freeze()
    const {revision} = await other.update('/a', bytes('2'), first)
    await compactEtcd(cluster, revision)
    healAll()
    await recorder.until(() => recorder.isLost)
    assert.deepEqual(revisionsOf(recorder.events), [first])
  })

  it('fails clearly while no member can be reached', async () => {
    const hasty = await openEtcdStorage(settings, {patience: 1_000})
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await assert.rejects(hasty.create('/a', bytes('1')), {code: 'STORE_UNREACHABLE'})
    await hasty.close()
    assert.equal(await other.get('/a'), undefined)
    proxies = []
  })
})
