import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {sleep} from '../../../src/runtime.ts'
import {EtcdCompactor} from '../../../src/storage/etcd/compactor.ts'
import {Endpoints} from '../../../src/storage/etcd/endpoints.ts'
import {Gateway} from '../../../src/storage/etcd/gateway.ts'
import {EtcdKeys} from '../../../src/storage/etcd/messages.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import type {EtcdSettings} from '../../../src/storage/etcd/settings.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {bytes, Recorder, revisionsOf} from '../conformance-support.ts'
import {compactEtcd} from './support.ts'

describeWithEtcd('three members', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster
  let settings: EtcdSettings

  before(async () => {
    cluster = await startEtcd({members: 3})
  })
  after(() => cluster.stop())
  beforeEach(() => {
    settings = {servers: cluster.servers, prefix: `/test/${randomUUID()}`}
  })

  it('lets one process compact, and another one after it', async () => {
    const open = () => new Gateway(new Endpoints(settings, () => undefined))
    const keys = new EtcdKeys(settings.prefix)
    const [first, second] = [open(), open()]
    const [leader, other] = [new EtcdCompactor(first, keys), new EtcdCompactor(second, keys)]
    const storage = await openEtcdStorage(settings)
    const a = await storage.create('/a', bytes('1'))
    const {revision} = await storage.update('/a', bytes('2'), a.revision)
    const tell = () => undefined
    const stop = leader.start(() => storage.revision(), tell)
    assert.equal(await leader.compactAsLeader(a.revision), true)
    assert.equal(await other.compactAsLeader(revision), false)
    assert.equal(await leader.compactAsLeader(a.revision), true)
    await stop()
    assert.equal(await other.compactAsLeader(revision), true)
    await assert.rejects(storage.list('/', {revision: a.revision}), {code: 'STORE_COMPACTED'})
    await Promise.all([first.close(), second.close(), storage.close()])
  })

  it('lets another process compact once the one that did has died', async () => {
    const keys = new EtcdKeys(settings.prefix)
    const open = () => new Gateway(new Endpoints(settings, () => undefined))
    const [first, second] = [open(), open()]
    const leader = new EtcdCompactor(first, keys, 2)
    const other = new EtcdCompactor(second, keys, 2)
    const storage = await openEtcdStorage(settings)
    const {revision} = await storage.create('/a', bytes('1'))
    assert.equal(await leader.compactAsLeader(revision), true)
    assert.equal(await other.compactAsLeader(revision), false)
    // As with SIGKILL, it gives nothing back.
    await first.close()
    while (!(await other.compactAsLeader(revision))) await sleep(50)
    assert.equal(await other.compactAsLeader(revision), true)
    await Promise.all([second.close(), storage.close()])
  })

  it('reads large histories in fragments, and reports them in order', async () => {
    const storage = await openEtcdStorage(settings)
    const since = await storage.revision()
    const written: number[] = []
    for (let index = 0; index < 12; index++)
      written.push(
        (await storage.create(`/${index}`, new Uint8Array(700_000).fill(index))).revision,
      )
    const recorder = new Recorder()
    storage.subscribe('/', since, recorder)
    await recorder.until(() => recorder.events.length >= written.length)
    assert.deepEqual(revisionsOf(recorder.events), written)
    assert.equal(recorder.events[11]?.entry?.value.length, 700_000)
    await storage.close()
  })

  it('refuses a value that is larger than etcd accepts', async () => {
    const storage = await openEtcdStorage(settings)
    await assert.rejects(storage.create('/a', new Uint8Array(1_600_000)), {
      code: 'STORE_VALUE_TOO_LARGE',
    })
    await assert.rejects(storage.create('/a', new Uint8Array(4_000_000)), {
      code: 'STORE_VALUE_TOO_LARGE',
    })
    await storage.close()
  })

  it('ends a subscription whose revision was compacted long ago', async () => {
    const storage = await openEtcdStorage(settings)
    const {revision} = await storage.create('/a', bytes('1'))
    await compactEtcd(cluster, revision)
    const recorder = new Recorder()
    storage.subscribe('/', 0, recorder)
    await recorder.until(() => recorder.isLost)
    await storage.close()
  })
})

describeWithEtcd('an etcd that is full', function () {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await startEtcd({args: ['--quota-backend-bytes', '1000000']})
  })
  after(() => cluster.stop())

  it('refuses writes with a reason, and its check fails', async () => {
    const storage = await openEtcdStorage({servers: cluster.servers, prefix: '/test'})
    const fill = async () => {
      for (let index = 0; ; index++) await storage.create(`/${index}`, new Uint8Array(200_000))
    }
    await assert.rejects(fill(), {code: 'STORE_WRITE_FAILED'})
    await assert.rejects(storage.check(), {code: 'STORE_WRITE_FAILED'})
    assert.equal((await storage.get('/0'))?.key, '/0')
    await storage.close()
  })
})
