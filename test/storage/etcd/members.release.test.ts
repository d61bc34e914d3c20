import assert from 'node:assert/strict'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {bytes, Recorder, revisionsOf} from '../conformance-support.ts'

describeWithEtcd('members that end and stop', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster

  before(async () => {
    cluster = await startEtcd({members: 3})
  })
  after(() => cluster.stop())

  for (const [name, signal, repair] of [
    ['is killed', 'SIGKILL', 'start'],
    ['stops without a sign', 'SIGSTOP', 'SIGCONT'],
  ] as const) {
    it(`loses nothing if each of them ${name} in turn`, async () => {
      const storage = await openEtcdStorage({servers: cluster.servers, prefix: `/${signal}`})
      const recorder = new Recorder()
      storage.subscribe('/', await storage.revision(), recorder)
      const acknowledged: number[] = []
      let isOver = false
      const write = async (writer: number) => {
        for (let index = 0; !isOver; index++) {
          const {revision} = await storage.create(`/${writer}/${index}`, bytes('1'))
          acknowledged.push(revision)
        }
      }
      const writers = Array.from({length: 4}, (_, writer) => write(writer))
      for (const member of cluster.members) {
        const before = acknowledged.length
        await member.kill(signal)
        // Every writer has met the fault and has written again.
        while (acknowledged.length < before + 40)
          await new Promise((resolve) => setTimeout(resolve, 10))
        if (repair === 'start') await member.start()
        else member.process.kill(repair)
        await storage.revision()
      }
      isOver = true
      await Promise.all(writers)
      const revision = await storage.revision()
      await recorder.until(() => recorder.reached >= revision)
      const sorted = acknowledged.sort((one, next) => one - next)
      assert.deepEqual(revisionsOf(recorder.events), sorted)
      const {entries} = await storage.list('/')
      assert.equal(entries.length, sorted.length)
      assert.equal(recorder.isLost, false)
      await storage.close()
    })
  }
})
