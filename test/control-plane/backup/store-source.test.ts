import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {saveStore} from '../../../src/control-plane/backup/backup.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {lockFolder} from '../../../src/fs/folder-lock.ts'
import {ensureFolder} from '../../../src/fs/folders.ts'
import {systemClock} from '../../../src/runtime.ts'
import {ARCHIVE_MAGIC} from '../../../src/storage/archive-frames.ts'

describe('the snapshot of a server', () => {
  let folder = ''
  let dir = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-source-'))
    dir = join(folder, 'plane')
    await savePlane(await resolvePlane({dir, flags: {bindPort: 1}}))
  })
  afterEach(() => rm(folder, {recursive: true}))

  const save = () => saveStore(dir, join(folder, 'one'), {clock: systemClock})

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

  it('is refused if the objects are in etcd, with the tool for that', async () => {
    const flags = {bindPort: 1, etcdServers: ['http://127.0.0.1:1']}
    const other = join(folder, 'on-etcd')
    await savePlane(await resolvePlane({dir: other, flags}))
    const options = {clock: systemClock}
    await assert.rejects(saveStore(other, join(folder, 'one'), options), {
      code: 'CONFLICT',
      suggestions: [
        'use "etcdctl snapshot save" for them, and copy the folder of the control plane',
      ],
    })
  })
})
