import assert from 'node:assert/strict'
import fs from 'node:fs'
import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises'
import {syncBuiltinESMExports} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {saveStore} from '../../../src/control-plane/backup/backup.ts'
import {restoreStore} from '../../../src/control-plane/backup/restore-snapshot.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {lockFolder} from '../../../src/fs/folder-lock.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'

const OPTIONS = {clock: systemClock, force: true}

describe('store snapshot restore', () => {
  let folder = ''
  let dir = ''
  let file = ''

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-snapshot-'))
    dir = join(folder, 'plane')
    file = join(folder, 'one.snapshot')
    await savePlane(await resolvePlane({dir, flags: {bindPort: 1}}))
    const storage = await openLmdbStorage(dir)
    await storage.create('/name', Buffer.from('saved'))
    await storage.close()
    await saveStore(dir, file, OPTIONS)
  })
  afterEach(() => rm(folder, {recursive: true}))

  /** Runs it with another `link`, which is called right before the stores are exchanged. */
  async function restoreWith(link: typeof fs.promises.link): Promise<unknown> {
    const original = fs.promises.link
    fs.promises.link = link
    syncBuiltinESMExports()
    try {
      return await restoreStore(file, dir, OPTIONS)
    } finally {
      fs.promises.link = original
      syncBuiltinESMExports()
    }
  }

  it('is in the issuance log before the store is another one', async () => {
    let log = ''
    const original = fs.promises.link
    await restoreWith(async (from, to) => {
      log = await readFile(join(dir, 'logs', 'issuance.log'), 'utf8')
      await original(from, to)
    })
    assert.match(log, /"decision":"restored","reason":"restoring the store from a snapshot of 2/)
  })

  it('changes nothing if the old store cannot be kept, and says what to do', async () => {
    const before = await readFile(join(dir, 'store', 'data.mdb'))
    const error = Object.assign(new Error('EXDEV: cross-device link'), {code: 'EXDEV'})
    await assert.rejects(
      restoreWith(() => Promise.reject(error)),
      ({code, message, suggestions}: {code: string; message: string; suggestions: string[]}) => {
        assert.equal(code, 'FILE_UNWRITABLE')
        assert.match(message, /^cannot write \S+\.mdb: it is on another file system$/)
        assert.match(suggestions.join(), /^nothing was changed: .+move \S+data\.mdb away yourself/)
        return true
      },
    )
    assert.deepEqual(await readFile(join(dir, 'store', 'data.mdb')), before)
    assert.equal((await readdir(join(dir, 'store'))).includes('new.mdb'), false)
  })

  it('keeps a server from starting also where there is no store yet', async () => {
    const store = join(dir, 'store')
    await rm(store, {recursive: true})
    let lock: Promise<unknown> | undefined
    const clock = {
      now() {
        lock ??= lockFolder(store).then(
          () => 'free',
          (error: unknown) => (error as {code: string}).code,
        )
        return new Date()
      },
    }
    await restoreStore(file, dir, {...OPTIONS, clock, force: false})
    assert.equal(await lock, 'STORE_LOCKED')
  })
})
