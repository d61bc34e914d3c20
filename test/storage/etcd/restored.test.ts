import assert from 'node:assert/strict'
import {cp, rename, rm} from 'node:fs/promises'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {bytes, Recorder} from '../conformance-support.ts'

describeWithEtcd('a restore from a backup', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster
  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  /** Brings etcd back to the state before `meanwhile`. */
  async function restoreAfter(meanwhile: () => Promise<void>): Promise<void> {
    const [member] = cluster.members
    assert.ok(member)
    const words = member.process.spawnargs
    const data = words[words.indexOf('--data-dir') + 1] ?? ''
    const backup = `${data}-backup`
    await member.kill()
    await cp(data, backup, {recursive: true})
    await member.start()
    await meanwhile()
    await member.kill()
    await rm(data, {recursive: true})
    await rename(backup, data)
    await member.start()
  }

  it('ends a watch that is ahead of etcd, also if etcd was away for longer than a request waits', async () => {
    const settings = {servers: cluster.servers, prefix: '/a'}
    const other = await openEtcdStorage(settings)
    // So short that the question after the cut fails.
    const hasty = await openEtcdStorage(settings, {patience: 150, wait: () => undefined})
    const recorder = new Recorder()
    await restoreAfter(async () => {
      hasty.subscribe('/', await other.revision(), recorder)
      const {revision} = await other.create('/a', bytes('1'))
      await recorder.until(() => recorder.reached >= revision)
    })
    await recorder.until(() => recorder.isLost)
    await hasty.close()
    await other.close()
  })

  it('is noticed by those who have only written or watched what is gone', async () => {
    const settings = {servers: cluster.servers, prefix: '/b'}
    const writer = await openEtcdStorage(settings)
    const watcher = await openEtcdStorage(settings)
    const recorder = new Recorder()
    watcher.subscribe('/', await writer.revision(), recorder)
    await restoreAfter(async () => {
      const {revision} = await writer.create('/b', bytes('1'))
      await recorder.until(() => recorder.reached >= revision)
    })
    for (const storage of [writer, watcher]) {
      await assert.rejects(storage.revision(), {code: 'STORE_FOREIGN', message: /has gone back/})
      await storage.close()
    }
  })
})
