import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import type {EtcdStorage} from '../../../src/storage/etcd/etcd.ts'
import {writeMark} from '../../../src/storage/etcd/migration-mark.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {bytes} from '../conformance-support.ts'
import {startFaultyProxy, type FaultyProxy} from './faulty-proxy.ts'

const COPYING = {state: 'copying', store: 'one', offset: 1} as const
const SERVING = {...COPYING, state: 'serving'} as const
const NONE = {revision: 0}

describeWithEtcd('the mark of a restore', () => {
  let cluster: EtcdCluster
  let proxy: FaultyProxy
  let storage: EtcdStorage
  let other: EtcdStorage
  before(async () => {
    cluster = await startEtcd()
    proxy = await startFaultyProxy(cluster.servers[0] ?? '')
  })
  after(async () => {
    await proxy.stop()
    await cluster.stop()
  })
  beforeEach(async () => {
    const prefix = `/test/${randomUUID()}`
    storage = await openEtcdStorage({servers: [proxy.url], prefix})
    other = await openEtcdStorage({servers: cluster.servers, prefix})
  })
  afterEach(async () => {
    await storage.close()
    await other.close()
  })

  it('is its own also if the answer to its write was lost', async () => {
    const found = await writeMark(storage, COPYING, NONE)
    const before = proxy.lost()
    proxy.loseAnswersTo('request_put', () => proxy.heal())
    const {mark} = await writeMark(storage, SERVING, found)
    assert.equal(proxy.lost(), before + 1)
    assert.deepEqual(mark, SERVING)
    await storage.create('/a', bytes('1'))
  })

  it('is its own also for what asks while it changes', async () => {
    let found = await writeMark(storage, COPYING, NONE)
    for (let round = 0; round < 20; round++) {
      const questions = Array.from({length: 20}, () => storage.revision())
      found = await writeMark(storage, round % 2 === 0 ? SERVING : COPYING, found)
      await Promise.all(questions)
    }
    await storage.create('/a', bytes('1'))
  })

  it('is that of another run also if that says the same, and stops this one', async () => {
    const found = await writeMark(storage, COPYING, NONE)
    await writeMark(other, COPYING, found)
    await assert.rejects(writeMark(storage, SERVING, found), {
      message: 'another restore uses the same keys in etcd',
    })
    await assert.rejects(storage.create('/a', bytes('1')), {code: 'STORE_CLOSED'})
    await other.create('/a', bytes('1'))
  })
})
