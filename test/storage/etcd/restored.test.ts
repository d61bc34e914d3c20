import assert from 'node:assert/strict'
import {cp, rm} from 'node:fs/promises'
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

  it('ends a watch that is ahead of etcd, also if etcd was away for longer than a request waits', async () => {
    const [member] = cluster.members
    assert.ok(member)
    const words = member.process.spawnargs
    const data = words[words.indexOf('--data-dir') + 1] ?? ''
    await member.kill()
    await cp(data, `${data}-backup`, {recursive: true})
    await member.start()
    const settings = {servers: cluster.servers, prefix: '/a'}
    const other = await openEtcdStorage(settings)
    // So short that the question after the cut fails.
    const hasty = await openEtcdStorage(settings, {patience: 150, wait: () => undefined})
    const recorder = new Recorder()
    hasty.subscribe('/', await other.revision(), recorder)
    const {revision} = await other.create('/a', bytes('1'))
    await recorder.until(() => recorder.reached >= revision)
    await member.kill()
    await rm(data, {recursive: true})
    await cp(`${data}-backup`, data, {recursive: true})
    await member.start()
    await recorder.until(() => recorder.isLost)
    await hasty.close()
    await other.close()
  })
})
