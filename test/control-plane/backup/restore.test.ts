import assert from 'node:assert/strict'
import fs from 'node:fs'
import {mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises'
import {syncBuiltinESMExports} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {backUpPlane, saveStore} from '../../../src/control-plane/backup/backup.ts'
import {restorePlane} from '../../../src/control-plane/backup/restore.ts'
import {noteRestore} from '../../../src/control-plane/backup/restored-log.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {readLogKey} from '../../../src/controllers/signing/log-key.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {storeRevision, openLmdbStorage} from '../../../src/storage/lmdb.ts'
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
    await backUpPlane(dir, file, OPTIONS)
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
    const {revision} = await restorePlane(file, dir, {...OPTIONS, bumpRevision: 1})
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
        const {revision} = await restorePlane(file, dir, {...OPTIONS, bumpRevision: 1})
        assert.ok(revision > known, `${revision} after ${known}`)
        assert.equal(storeRevision(dir), revision)
      }
    })
  }

  it('says so if it cannot know which revision was restored last', async () => {
    await restorePlane(file, dir, OPTIONS)
    const note = join(dir, 'restored.json')
    await writeFile(note, '{}')
    await assert.rejects(restorePlane(file, dir, OPTIONS), {code: 'FILE_UNREADABLE'})
    await rm(note)
    await restorePlane(file, dir, OPTIONS)
  })

  it('keeps a newer issuance log of the same control plane, and says so in it', async () => {
    await write('after', 1)
    await restorePlane(file, dir, OPTIONS)
    const reasons = await reasonsIn(dir)
    assert.deepEqual(reasons.slice(0, 2), ['before', 'after'])
    assert.match(reasons[2] ?? '', /restored from a backup of .+; this log is newer than that$/)
    assert.equal(reasons.length, 3)
  })

  it('replaces the issuance log of another control plane', async () => {
    await rm(join(dir, 'issuance.key'))
    await rm(join(dir, 'logs'), {recursive: true})
    await write('other', 3)
    await restorePlane(file, dir, OPTIONS)
    const [first, second, ...more] = await reasonsIn(dir)
    assert.equal(first, 'before')
    assert.match(second ?? '', /restored from a backup of [^;]+$/)
    assert.deepEqual(more, [])
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
      await assert.rejects(restorePlane(file, dir, OPTIONS), {
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

  it('says how to restore a file that has only a store', async () => {
    const snapshot = join(folder, 'one.snapshot')
    await saveStore(dir, snapshot, OPTIONS)
    await assert.rejects(restorePlane(snapshot, dir, OPTIONS), {
      code: 'USAGE',
      suggestions: [`restore it with "trustadm store snapshot restore ${snapshot}"`],
    })
  })

  it('refuses a folder of other files, even with --force', async () => {
    const other = join(folder, 'home')
    await mkdir(other)
    await writeFile(join(other, 'letter.txt'), 'mine')
    await assert.rejects(restorePlane(file, other, OPTIONS), {code: 'ALREADY_EXISTS'})
    assert.equal(await readFile(join(other, 'letter.txt'), 'utf8'), 'mine')
  })

  it('refuses a backup that it would move aside, and takes one from backups', async () => {
    const inside = join(dir, 'one.backup')
    await rename(file, inside)
    await assert.rejects(restorePlane(inside, dir, OPTIONS), {code: 'CONFLICT'})
    await mkdir(join(dir, 'backups'))
    const kept = join(dir, 'backups', 'one.backup')
    await rename(inside, kept)
    await restorePlane(kept, dir, OPTIONS)
    assert.ok(await findPlane(dir))
  })
})
