import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {backUp, describeBackup} from '../../../src/control-plane/backup/backup.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {lockFolder} from '../../../src/fs/folder-lock.ts'
import {ensureFolder} from '../../../src/fs/folders.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import {ARCHIVE_MAGIC} from '../../../src/storage/archive-frames.ts'

describe('a backup of objects only', () => {
  let folder = ''
  let dir = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-source-'))
    dir = join(folder, 'plane')
    await savePlane(await resolvePlane({dir, flags: {bindPort: 1}}))
  })
  afterEach(() => rm(folder, {recursive: true}))

  const save = () => backUp(dir, join(folder, 'one'), {clock: systemClock, objectsOnly: true})

  it('is not there before the first start', async () => {
    await assert.rejects(save(), {code: 'NOT_FOUND'})
  })

  it('leaves no file if the server ends meanwhile, or offers none', async function () {
    this.timeout(30_000)
    await ensureFolder(join(dir, 'store'))
    const release = await lockFolder(join(dir, 'store'))
    await assert.rejects(save(), {code: 'CONFLICT'})
    const server = createServer((socket) => socket.end(ARCHIVE_MAGIC))
    server.listen({path: join(dir, 'store', 'snapshot.sock')})
    await once(server, 'listening')
    await assert.rejects(save(), {code: 'SERVER_UNREACHABLE'})
    server.close()
    await release()
    assert.deepEqual(await readdir(folder), ['plane'])
  })

  it('has no private key of the control plane, and still all Secrets', async () => {
    const key = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ')
    await mkdir(join(dir, 'pki'))
    await writeFile(join(dir, 'pki', 'ca.key'), key)
    const storage = await openLmdbStorage(dir)
    const secrets = '/registry/core/secrets/kube-system'
    await storage.create(`${secrets}/bootstrap-token-abcdef`, Buffer.from('a token'))
    await storage.create(`${secrets}/kubeadm-certs`, Buffer.from('the CAs, encrypted'))
    await storage.close()
    const content = async (objectsOnly: boolean) => {
      const file = join(folder, String(objectsOnly))
      const report = await backUp(dir, file, {clock: systemClock, objectsOnly})
      const {leftOut, ...described} = report
      assert.deepEqual(leftOut, [])
      assert.deepEqual(await describeBackup(file, undefined), described)
      const text = (await readFile(file)).toString('latin1')
      const found = [key, 'a token', 'the CAs, encrypted'].map((one) => text.includes(one))
      return {counts: [report.keys, report.files], found}
    }
    assert.deepEqual(await content(true), {counts: [1, 0], found: [false, true, false]})
    assert.deepEqual(await content(false), {counts: [2, 2], found: [true, true, true]})
  })
})
