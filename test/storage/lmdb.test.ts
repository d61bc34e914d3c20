import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {openLmdbStorage, openStoreFile} from '../../src/storage/lmdb.ts'
import {LmdbRecords} from '../../src/storage/lmdb-records.ts'
import {newHeader} from '../../src/storage/record-codec.ts'
import type {RecordChange, RecordStore} from '../../src/storage/record-store.ts'
import {createStoreFile} from '../../src/storage/store-files.ts'
import {VersionedState} from '../../src/storage/versioned-state.ts'
import {VersionedStorage} from '../../src/storage/versioned-storage.ts'
import {storageConformance} from './conformance.ts'
import {bytes, changesSince, text} from './conformance-support.ts'
import {embeddedConformance} from './embedded-conformance.ts'
import {temporaryFolder} from './temporary-folder.ts'

const openEmpty = async () => {
  const {folder, remove} = await temporaryFolder()
  const storage = await openLmdbStorage(folder)
  return {storage, compact: (revision: number) => storage.compact(revision), dispose: remove}
}

storageConformance('lmdb', openEmpty)
embeddedConformance('lmdb', openEmpty)

describe('the memory map of an lmdb store', () => {
  let folder: string
  let remove: () => Promise<void>

  beforeEach(async function () {
    if (process.platform !== 'linux') this.skip()
    ;({folder, remove} = await temporaryFolder())
  })
  afterEach(() => remove())

  const mapsOf = async (field: string) => {
    const smaps = await readFile('/proc/self/smaps', 'utf8')
    return [
      ...smaps.matchAll(
        new RegExp(`${folder}/.*data\\.mdb\\n(?:.*\\n)*?${field}: +(\\d+) kB`, 'g'),
      ),
    ].map(([, kilobytes]) => Number(kilobytes))
  }

  it('stays the only one as the store grows', async () => {
    const storage = await openLmdbStorage(folder)
    for (let index = 0; index < 8; index++)
      await storage.create(`/${index}`, new Uint8Array(400_000))
    assert.equal((await mapsOf('Size')).length, 1)
    await storage.close()
  })

  it('has next to nothing in memory of values that are only written', async () => {
    const storage = await openLmdbStorage(folder)
    let {revision} = await storage.create('/large', new Uint8Array(1_000_000))
    for (let round = 0; round < 30; round++)
      ({revision} = await storage.update('/large', new Uint8Array(1_000_000), revision))
    const resident = (await mapsOf('Rss')).reduce((sum, kilobytes) => sum + kilobytes, 0)
    assert.ok(resident < 6000, `${resident} kB of 31 MB`)
    await storage.close()
  })
})

describe('an lmdb store opened again', () => {
  let folder: string
  let remove: () => Promise<void>

  beforeEach(async () => {
    ;({folder, remove} = await temporaryFolder())
  })
  afterEach(() => remove())

  it('has its state, its revision and its history', async () => {
    const first = await openLmdbStorage(folder)
    const a = await first.create('/a', bytes('1'))
    const updated = await first.update('/a', bytes('2'), a.revision)
    await first.create('/b', bytes('1'))
    await first.delete('/a', updated.revision)
    await first.close()

    const second = await openLmdbStorage(folder)
    assert.equal(await second.revision(), 5)
    assert.deepEqual(
      (await second.list('/')).entries.map(({key}) => key),
      ['/b'],
    )
    assert.equal(text((await second.list('/', {revision: 3})).entries[0]?.value), '2')
    assert.deepEqual((await changesSince(second, '/a', 2))[1]?.previous, updated)
    await second.close()
  })

  it('does not go back behind a compacted deletion', async () => {
    const first = await openLmdbStorage(folder)
    const a = await first.create('/a', bytes('1'))
    await first.delete('/a', a.revision)
    await first.compact(3)
    await first.close()

    const second = await openLmdbStorage(folder)
    assert.equal(await second.revision(), 3)
    await assert.rejects(second.list('/', {revision: 2}), {code: 'STORE_COMPACTED'})
    assert.equal((await second.create('/a', bytes('2'))).revision, 4)
    await second.close()
  })

  /** A store in a file, some of whose removals fail: the first one is 1. */
  async function openFailing(fails: (removal: number) => boolean) {
    const file = join(folder, 'data.mdb')
    const header = newHeader()
    await createStoreFile(file, header)
    const records = new LmdbRecords(file, header, 0)
    let removals = 0
    const commit = (change: RecordChange) =>
      change.remove.length > 0 && fails(++removals)
        ? Promise.reject(new Error('no room'))
        : records.commit(change)
    const flaky: RecordStore = {
      commit,
      value: (revision) => records.value(revision),
      size: () => records.size(),
      close: () => records.close(),
    }
    return {file, storage: new VersionedStorage(flaky, new VersionedState())}
  }

  for (const [when, fails] of [
    ['the first one failed, and all after the next', (removal: number) => removal !== 2],
    ['the first ones failed, and all after the next', (removal: number) => removal !== 3],
    ['only two in between succeeded', (removal: number) => ![2, 4].includes(removal)],
  ] as const) {
    it(`does not bring deleted keys back after removals of which ${when}`, async () => {
      const {file, storage} = await openFailing(fails)
      const kept = await storage.create('/kept', bytes('1'))
      // More than one commit removes, and the revisions of a key fall to both sides.
      const keys = Array.from({length: 2_500}, (_, index) => `/${index}`)
      await Promise.all(
        keys.map(async (key) => {
          const {revision} = await storage.create(key, bytes('x'))
          const updated = await storage.update(key, bytes('y'), revision)
          await storage.delete(key, updated.revision)
        }),
      )
      const again = await storage.create('/0', bytes('again'))
      const before = await storage.revision()
      await storage.update('/kept', bytes('2'), kept.revision)
      await Promise.allSettled([storage.compact(before - 1), storage.compact(before)])
      for (const revision of [before + 1, before + 2, before + 3]) {
        await storage.create(`/kept/${revision}`, bytes('1'))
        await storage.compact(revision).catch(() => undefined)
      }
      await storage.update('/0', bytes('changed'), again.revision)
      await storage.close()

      const {storage: opened} = openStoreFile(file)
      const {entries} = await opened.list('/')
      await opened.close()
      assert.deepEqual(
        entries.map(({key}) => key),
        ['/0', '/kept', ...[1, 2, 3].map((more) => `/kept/${before + more}`)],
      )
    })
  }

  it('is sound after much was written, deleted and compacted in between', async function () {
    this.timeout(60_000)
    const expected = new Map<string, string>()
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    for (let opening = 0; opening < 6; opening++) {
      const storage = await openLmdbStorage(folder)
      for (let round = 0; round < 25; round++) {
        const keys = new Set(Array.from({length: 40}, () => `/k/${random(600)}`))
        await Promise.all(
          [...keys].map(async (key) => {
            const value = String(random(10)).repeat(random(9_000))
            const entry = await storage.get(key)
            if (!entry) await storage.create(key, bytes(value))
            else if (random(3) > 0) await storage.update(key, bytes(value), entry.revision)
            else {
              await storage.delete(key, entry.revision)
              expected.delete(key)
              return
            }
            expected.set(key, value)
          }),
        )
        if (round % 4 === 0)
          await storage.compact(Math.max(1, (await storage.revision()) - random(300)))
      }
      await storage.close()
    }
    const storage = await openLmdbStorage(folder)
    const found = (await storage.list('')).entries.map(
      ({key, value}) => [key, text(value)] as const,
    )
    assert.deepEqual(new Map(found), expected)
    await storage.close()
  })
})
