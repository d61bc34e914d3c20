import assert from 'node:assert/strict'
import fs from 'node:fs'
import {mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises'
import {syncBuiltinESMExports} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {backUp} from '../../../src/control-plane/backup/backup.ts'
import {restore} from '../../../src/control-plane/backup/restore.ts'
import {noteRestore} from '../../../src/control-plane/backup/restored-log.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {readLogKey} from '../../../src/controllers/signing/log-key.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {storeRevision, openLmdbStorage} from '../../../src/storage/lmdb.ts'
import {lockFolder} from '../../../src/fs/folder-lock.ts'
import {systemClock} from '../../../src/runtime.ts'

const OPTIONS = {clock: systemClock, force: true}

describe('restore', () => {
  let folder = ''
  let dir = ''
  let file = ''

  async function write(name: string, count: number): Promise<void> {
    const storage = await openLmdbStorage(dir)
    for (let number = 0; number < count; number++) {
      await storage.create(`/${name}/${number}`, Buffer.from(name))
    }
    await storage.close()
    await noteRestore(dir, name, systemClock)
  }

  /** The log, whose chain and key must be right. */
  async function reasonsIn(home: string): Promise<string[]> {
    const key = await readLogKey(join(home, 'issuance.key'))
    assert.ok(key)
    const path = join(home, 'logs', 'issuance.log')
    await readLog(path, {key})
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    return lines.map((line) => (JSON.parse(line) as {reason: string}).reason)
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-restore-'))
    dir = join(folder, 'plane')
    file = join(folder, 'one.backup')
    await savePlane(await resolvePlane({dir, flags: {bindPort: 1}}))
    await mkdir(join(dir, 'pki'))
    await writeFile(join(dir, 'pki', 'ca.crt'), 'a CA')
    await write('before', 1)
    await backUp(dir, file, OPTIONS)
  })
  afterEach(() => rm(folder, {recursive: true}))

  it('goes on from what an interrupted one has moved aside', async () => {
    await write('after', 20)
    const known = storeRevision(dir)
    const aside = join(dir, 'backups', 'restore-20260101T000000000Z')
    await mkdir(aside, {recursive: true})
    for (const name of ['config.yaml', 'store', 'logs', 'issuance.key']) {
      await rename(join(dir, name), join(aside, name))
    }
    await mkdir(join(dir, '.restore'))
    const {revision} = await restore(file, dir, {...OPTIONS, bumpRevision: 1})
    assert.equal(revision, known + 1)
    assert.match(await readFile(join(dir, 'logs', 'issuance.log'), 'utf8'), /"after"/)
  })

  const LOSSES: Record<string, (data: string) => Promise<void>> = {
    'is damaged': (data) => writeFile(data, Buffer.alloc(100_000, 'x')),
    'is cut off': (data) => writeFile(data, ''),
    'is gone': (data) => rm(data),
  }
  for (const [loss, lose] of Object.entries(LOSSES)) {
    it(`repeats no revision if the store ${loss}, restored for the first time or again`, async () => {
      for (const name of ['first', 'second', 'third']) {
        await write(name, 20)
        const known = storeRevision(dir)
        await lose(join(dir, 'store', 'data.mdb'))
        const {revision} = await restore(file, dir, {...OPTIONS, bumpRevision: 1})
        assert.ok((revision ?? 0) > known, `${revision} after ${known}`)
        assert.equal(storeRevision(dir), revision)
      }
    })
  }

  it('says so if it cannot know which revision was restored last', async () => {
    await restore(file, dir, OPTIONS)
    const note = join(dir, 'restored.json')
    await writeFile(note, '{}')
    await assert.rejects(restore(file, dir, OPTIONS), {code: 'FILE_UNREADABLE'})
    await rm(note)
    await restore(file, dir, OPTIONS)
  })

  it('keeps a newer issuance log of the same control plane, and says so in it', async () => {
    await write('after', 1)
    await restore(file, dir, OPTIONS)
    const reasons = await reasonsIn(dir)
    assert.deepEqual(reasons.slice(0, 2), ['before', 'after'])
    assert.match(reasons[2] ?? '', /restored from a backup of .+; this log is newer than that$/)
    assert.equal(reasons.length, 3)
  })

  it('replaces the issuance log of another control plane', async () => {
    await rm(join(dir, 'issuance.key'))
    await rm(join(dir, 'logs'), {recursive: true})
    await write('other', 3)
    await restore(file, dir, OPTIONS)
    const [first, second, ...more] = await reasonsIn(dir)
    assert.equal(first, 'before')
    assert.match(second ?? '', /restored from a backup of [^;]+$/)
    assert.deepEqual(more, [])
  })

  it('gives back a damaged list of files as it was', async () => {
    for (const text of ['null', '{"files":', '']) {
      await writeFile(join(dir, 'manifest.json'), text)
      await backUp(dir, file, OPTIONS)
      await restore(file, dir, OPTIONS)
      assert.equal(await readFile(join(dir, 'manifest.json'), 'utf8'), text)
    }
  })

  it('changes nothing if something cannot be moved aside', async () => {
    const before = (await readdir(dir)).sort()
    const promises = fs.promises
    const original = promises.rename
    promises.rename = (from, to) =>
      from === join(dir, 'pki')
        ? Promise.reject(Object.assign(new Error('EBUSY: busy'), {code: 'EBUSY'}))
        : original(from, to)
    syncBuiltinESMExports()
    try {
      await assert.rejects(restore(file, dir, OPTIONS), {
        code: 'FILE_UNWRITABLE',
        message: `cannot write ${join(dir, 'pki')}: it is in use, or a mount point`,
      })
    } finally {
      promises.rename = original
      syncBuiltinESMExports()
    }
    assert.deepEqual((await readdir(dir)).sort(), [...before, 'backups'].sort())
    assert.deepEqual(await readdir(join(dir, 'backups')), [])
    assert.ok(await findPlane(dir))
  })

  describe('of objects only', () => {
    beforeEach(async () => {
      await backUp(dir, file, {...OPTIONS, objectsOnly: true})
    })

    /** What is in the folder, apart from what the restore of objects may change. */
    const others = async () => {
      const names = await readdir(dir)
      return names.filter((name) => !['backups', 'logs', 'restored.json'].includes(name)).sort()
    }

    it('replaces the store alone, keeps the old one, and needs --force if that has more', async () => {
      await restore(file, dir, {...OPTIONS, force: false})
      await write('after', 3)
      const config = await readFile(join(dir, 'config.yaml'))
      const before = await others()
      await assert.rejects(restore(file, dir, {...OPTIONS, force: false}), {code: 'ALREADY_EXISTS'})
      assert.deepEqual(await others(), before)
      const {kept, files, unchanged} = await restore(file, dir, OPTIONS)
      assert.deepEqual([files, unchanged], [0, false])
      assert.deepEqual(await others(), before)
      assert.deepEqual(await readFile(join(dir, 'config.yaml')), config)
      assert.ok(storeRevision(kept ?? '') > 0)
      const storage = await openLmdbStorage(dir)
      assert.equal(await storage.get('/after/0'), undefined)
      await storage.close()
      assert.match((await reasonsIn(dir)).at(-1) ?? '', /^restoring the objects from a backup of 2/)
    })

    it('needs a control plane, and is not mixed with another restore that was interrupted', async () => {
      await assert.rejects(restore(file, join(folder, 'other'), OPTIONS), {code: 'NOT_FOUND'})
      await assert.rejects(restore(file, dir, {...OPTIONS, only: 'files'}), {
        code: 'USAGE',
        hints: ['leave out --files-only, or use a backup that was made without --objects-only'],
      })
      const aside = join(dir, 'backups', 'restore-20260101T000000000Z')
      await mkdir(aside, {recursive: true})
      for (const name of ['config.yaml', 'pki']) await rename(join(dir, name), join(aside, name))
      await mkdir(join(dir, '.restore'))
      await assert.rejects(restore(file, dir, OPTIONS), {
        code: 'CONFIG_INVALID',
        message: `a restore of ${dir} was interrupted`,
      })
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
      await restore(file, dir, {clock, force: false})
      assert.equal(await lock, 'STORE_LOCKED')
    })
  })

  it('takes the objects alone from a backup of everything', async () => {
    await write('after', 1)
    await writeFile(join(dir, 'pki', 'ca.crt'), 'a newer CA')
    await restore(file, dir, {...OPTIONS, only: 'objects'})
    assert.equal(await readFile(join(dir, 'pki', 'ca.crt'), 'utf8'), 'a newer CA')
    const storage = await openLmdbStorage(dir)
    assert.equal(await storage.get('/after/0'), undefined)
    await storage.close()
    await assert.rejects(restore(file, dir, {...OPTIONS, only: 'files'}), {code: 'USAGE'})
  })

  it('refuses a folder of other files, even with --force', async () => {
    const other = join(folder, 'home')
    await mkdir(other)
    await writeFile(join(other, 'letter.txt'), 'mine')
    await assert.rejects(restore(file, other, OPTIONS), {code: 'ALREADY_EXISTS'})
    assert.equal(await readFile(join(other, 'letter.txt'), 'utf8'), 'mine')
  })

  it('refuses a backup that it would move aside, and takes one from backups', async () => {
    const inside = join(dir, 'one.backup')
    await rename(file, inside)
    await assert.rejects(restore(inside, dir, OPTIONS), {code: 'CONFLICT'})
    await mkdir(join(dir, 'backups'))
    const kept = join(dir, 'backups', 'one.backup')
    await rename(inside, kept)
    await restore(kept, dir, OPTIONS)
    assert.ok(await findPlane(dir))
  })
})
