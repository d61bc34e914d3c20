import assert from 'node:assert/strict'
import {randomBytes} from 'node:crypto'
import {mkdir, readFile, stat, symlink, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {open} from 'lmdb'
import {hasCode} from '../../src/errors.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {bytes} from './conformance-support.ts'
import {fillStore, tryFlippedBits, usedBytes} from './flipped-bits.ts'
import {temporaryFolder} from './temporary-folder.ts'

describe('the files of an lmdb store', () => {
  let folder: string
  let data: string
  let remove: () => Promise<void>

  beforeEach(async () => {
    ;({folder, remove} = await temporaryFolder())
    data = join(folder, 'store', 'data.mdb')
  })
  afterEach(() => remove())

  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  for (const mask of [0o000, 0o022, 0o777]) {
    it(`are the owner's alone with umask ${mask.toString(8)}`, async () => {
      const before = process.umask(mask)
      try {
        const storage = await openLmdbStorage(folder)
        await storage.create('/a', bytes('1'))
        assert.equal(await modeOf(join(folder, 'store')), '700')
        assert.equal(await modeOf(data), '600')
        assert.equal(await modeOf(`${data}-lock`), '600')
        await storage.close()
      } finally {
        process.umask(before)
      }
    })
  }

  it('are made again where a first start was interrupted before the data was in place', async () => {
    await mkdir(join(folder, 'store'))
    await writeFile(join(folder, 'store', 'new.mdb'), 'half')
    await writeFile(join(folder, 'store', 'new.mdb-lock'), '')
    const storage = await openLmdbStorage(folder)
    assert.equal(await storage.revision(), 1)
    await storage.close()
  })

  it('are refused where a planted link stands in their place', async () => {
    const elsewhere = join(folder, 'elsewhere')
    await mkdir(join(folder, 'store'))
    await writeFile(elsewhere, 'precious')
    await symlink(elsewhere, data)
    await assert.rejects(openLmdbStorage(folder), {code: 'STORE_FOREIGN'})
    assert.equal(await readFile(elsewhere, 'utf8'), 'precious')
  })

  it('cannot be made under a file', async () => {
    await writeFile(join(folder, 'file'), '')
    await assert.rejects(openLmdbStorage(join(folder, 'file')), {code: 'FILE_UNWRITABLE'})
  })

  const foreign: {name: string; content: Buffer; code: string}[] = [
    {name: 'random bytes', content: randomBytes(65_536), code: 'STORE_FOREIGN'},
    {name: 'text', content: Buffer.from('a note\n'), code: 'STORE_FOREIGN'},
    {
      name: 'an SQLite database',
      content: Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8_176)]),
      code: 'STORE_FOREIGN',
    },
    {name: 'zeros', content: Buffer.alloc(65_536), code: 'STORE_FOREIGN'},
    {name: 'nothing', content: Buffer.alloc(0), code: 'STORE_CORRUPT'},
  ]
  for (const {name, content, code} of foreign) {
    it(`that hold ${name} are refused and left as they are`, async () => {
      await mkdir(join(folder, 'store'))
      await writeFile(data, content)
      await assert.rejects(openLmdbStorage(folder), {code})
      assert.deepEqual(await readFile(data), content)
    })
  }

  for (const named of [false, true]) {
    it(`of another program's LMDB ${named ? 'with names' : 'database'} are refused and left as they are`, async () => {
      await mkdir(join(folder, 'store'))
      const database = open(data, {})
      await (named ? database.openDB({name: 'other'}) : database).put('a', 'b')
      await database.close()
      const before = await readFile(data)
      await assert.rejects(openLmdbStorage(folder), {code: 'STORE_FOREIGN'})
      assert.deepEqual(await readFile(data), before)
    })
  }

  it('that were cut off are refused and left as they are', async () => {
    await fillStore(folder)
    const used = await usedBytes(data)
    for (const size of [used - 8 * 4_096, Math.floor(used / 2), 8_192, 4_096, 100, 10]) {
      await truncate(data, size)
      const before = await readFile(data)
      await assert.rejects(openLmdbStorage(folder), (error) =>
        hasCode(error, 'STORE_CORRUPT', 'STORE_FOREIGN'),
      )
      assert.deepEqual(await readFile(data), before)
    }
  })

  // Each bit in turn is in flipped-bits.release.test.ts.
  it('with any one flipped bit are either refused or read exactly as they were', () =>
    tryFlippedBits(folder, 5))

  it('of a newer trustadm are refused with the advice to upgrade, and left as they are', async () => {
    const storage = await openLmdbStorage(folder)
    await storage.close()
    const {encodeHeader, newHeader} = await import('../../src/storage/record-codec.ts')
    const {openLmdb} = await import('../../src/storage/lmdb-file.ts')
    const {HEADER_KEY} = await import('../../src/storage/lmdb-records.ts')
    const database = openLmdb(data)
    await database.put(HEADER_KEY, encodeHeader({...newHeader(), version: 2}))
    await database.close()
    const before = await readFile(data)
    await assert.rejects(openLmdbStorage(folder), (error) => {
      assert.ok(hasCode(error, 'STORE_NEWER'))
      assert.match(error.message, /format 2.*up to 1/)
      assert.match(error.suggestions.join(), /upgrade trustadm/)
      assert.doesNotMatch(error.suggestions.join(), /move/)
      return true
    })
    assert.deepEqual(await readFile(data), before)
  })

  it('of another format of LMDB are refused without advice to move them away', async () => {
    await (await openLmdbStorage(folder)).close()
    const content = await readFile(data)
    for (const page of [0, 4_096]) content.writeUInt32LE(3, page + 28)
    await writeFile(data, content)
    await assert.rejects(openLmdbStorage(folder), (error) => {
      assert.ok(hasCode(error, 'STORE_FOREIGN'))
      assert.match(error.suggestions.join(), /upgrade trustadm/)
      assert.doesNotMatch(error.suggestions.join(), /move/)
      return true
    })
  })
})
