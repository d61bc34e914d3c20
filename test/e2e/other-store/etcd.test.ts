import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {connect} from '../../../src/client/connect.ts'
import {etcdOf} from '../../../src/control-plane/config/etcd.ts'
import {loadPlane} from '../../../src/control-plane/config/stored.ts'
import type {RestoreReport} from '../../../src/control-plane/backup/restore.ts'
import {sleep} from '../../../src/runtime.ts'
import {readMark, writeMark} from '../../../src/storage/etcd/migration-mark.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {PROGRAM} from '../../helpers/cluster.ts'
import {describeWithOwnEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {Plane} from '../../helpers/plane.ts'

const run = promisify(execFile)
const namespace = 'default'

describeWithOwnEtcd('a control plane that moves to etcd', function () {
  this.timeout(90_000)
  let etcd: EtcdCluster
  let plane: Plane
  before(async () => {
    etcd = await startEtcd()
    plane = await Plane.start()
  })
  after(async () => {
    await plane.stop()
    await etcd.stop()
  })

  it('keeps its objects, and sends clients with an old revision to a new list', async () => {
    const client = await connect(plane.cluster.kubeconfig)
    const {dir} = plane.cluster
    const file = join(dir, 'objects.backup')
    const works = (...words: string[]) => run(process.execPath, [PROGRAM, ...words, '--dir', dir])
    const save = () => works('backup', file, '--objects-only')
    const move = () =>
      works('restore', file, '--to', 'etcd', '-o', 'json', '--etcd-servers', etcd.servers.join(','))
    try {
      const before = await client.configMaps.create({metadata: {namespace, name: 'one'}})
      await save()
      await assert.rejects(move(), {code: 6, stderr: /the server is running/})
      await client.configMaps.create({metadata: {namespace, name: 'not-saved'}})
      let report: RestoreReport | undefined
      await plane.restart(async () => {
        await assert.rejects(move(), {stderr: /has other objects than the backup/})
        await save()
        report = JSON.parse((await move()).stdout) as RestoreReport
      })
      const old = before.metadata.resourceVersion ?? ''
      const {revision = null, backupRevision = 0} = report ?? {}
      assert.ok(revision !== null && revision > backupRevision)
      assert.ok(backupRevision >= Number(old))
      const moved = await client.configMaps.find({namespace, name: 'one'})
      assert.equal(moved?.metadata.uid, before.metadata.uid)
      assert.ok(Number(moved?.metadata.resourceVersion) > backupRevision)
      const next = await client.configMaps.create({metadata: {namespace, name: 'two'}})
      assert.ok(Number(next.metadata.resourceVersion) > revision)
      const path = `/api/v1/configmaps?watch=true&timeoutSeconds=5&resourceVersion=${old}`
      const answer = await client.raw(path).catch((error: unknown) => String(error))
      assert.match(answer, /too old resource version/)
    } finally {
      await client.close()
    }
  })

  it('has no server any more once its objects have moved away from etcd', async () => {
    const {dir} = plane.cluster
    const etcdSettings = etcdOf((await loadPlane(dir)).settings) ?? assert.fail()
    const storage = await openEtcdStorage(etcdSettings)
    try {
      const found = await readMark(storage)
      await writeMark(storage, {...(found.mark ?? assert.fail()), state: 'moved'}, found)
      while (plane.isRunning) await sleep(50)
    } finally {
      await storage.close()
    }
    await assert.rejects(run(process.execPath, [PROGRAM, 'serve', '--dir', dir]), {
      code: 6,
      stderr: /have moved to another store/,
    })
  })
})
