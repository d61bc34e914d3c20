import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {readArchive, type ArchiveHeader} from '../../src/storage/archive-frames.ts'
import {openLmdbStorage, storeRevision} from '../../src/storage/lmdb.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {buildStore} from '../../src/storage/build-store.ts'
import {connectToSnapshots, serveSnapshots} from '../../src/storage/snapshot-socket.ts'
import {decodeEntries, encodeEntries, writeSnapshot} from '../../src/storage/snapshot.ts'
import type {VersionedStorage} from '../../src/storage/versioned-storage.ts'

const ABOUT = {createdAt: '2026-01-01T00:00:00.000Z', program: '1'}
const value = (text: string) => new TextEncoder().encode(text)

async function* one(bytes: Buffer) {
  await Promise.resolve()
  yield bytes
}

async function read(source: AsyncIterable<Buffer>) {
  const found = new Map<string, string>()
  let header: ArchiveHeader | undefined
  for await (const part of readArchive(source)) {
    if (part.type === 'header') header = part.header
    if (part.type === 'end') assert.equal(part.end.keys, found.size)
    if (part.type !== 'entries') continue
    for (const entry of decodeEntries(part.content))
      found.set(entry.key, Buffer.from(entry.value ?? []).toString())
  }
  return {header: header ?? assert.fail(), found}
}

async function fill(storage: VersionedStorage, count: number): Promise<void> {
  const keys = Array.from({length: count}, (_, index) => `/k/${String(index).padStart(5, '0')}`)
  await Promise.all(keys.map((key) => storage.create(key, value('old'))))
}

describe('a snapshot of a store', () => {
  it('has every key as of one moment, whatever is written and compacted meanwhile', async () => {
    const storage = openMemoryStorage()
    await fill(storage, 2_500)
    const start = await storage.revision()
    const chunks: Buffer[] = []
    let writes = 0
    await writeSnapshot(storage, ABOUT, async (bytes) => {
      chunks.push(Buffer.from(bytes))
      // Between two pages: a key of a later page changes, and its history is to be dropped.
      const key = '/k/02499'
      const {revision = 0} = (await storage.get(key)) ?? {}
      await storage.update(key, value(`new ${++writes}`), revision)
      await storage.compact(await storage.revision())
    })
    const {header, found} = await read(one(Buffer.concat(chunks)))
    assert.equal(header.revision, start)
    assert.equal(found.size, 2_500)
    assert.deepEqual(new Set(found.values()), new Set(['old']))
    assert.ok(writes > 2)
    await storage.compact(await storage.revision())
    await assert.rejects(storage.list('', {revision: start}), {code: 'STORE_COMPACTED'})
  })

  it('is refused by its reader if it ends early', async () => {
    const storage = openMemoryStorage()
    await fill(storage, 10)
    const chunks: Buffer[] = []
    await writeSnapshot(storage, ABOUT, (bytes) => {
      chunks.push(Buffer.from(bytes))
      return Promise.resolve()
    })
    const bytes = Buffer.concat(chunks)
    for (const end of [bytes.length - 1, bytes.length - 37, 30]) {
      await assert.rejects(read(one(bytes.subarray(0, end))), {code: 'BACKUP_INVALID'})
    }
    await assert.rejects(read(one(Buffer.concat([bytes, bytes]))), {code: 'BACKUP_INVALID'})
  })

  it('says why the server could not complete it', async () => {
    const broken = {
      revision: () => Promise.resolve(1),
      list: () => Promise.reject(new Error('the disk is gone')),
    }
    const chunks: Buffer[] = []
    const append = (bytes: Uint8Array) => Promise.resolve(void chunks.push(Buffer.from(bytes)))
    await assert.rejects(writeSnapshot(broken, ABOUT, append))
    await assert.rejects(read(one(Buffer.concat(chunks))), {
      message: 'the server cannot send its objects: the disk is gone',
    })
  })

  describe('in files', () => {
    let folder = ''
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'trustadm-snapshot-'))
    })
    afterEach(() => rm(folder, {recursive: true}))

    it('comes through a socket, also to several readers, and again after a restart', async () => {
      for (let start = 0; start < 2; start++) {
        const storage = await openLmdbStorage(folder)
        if (start === 0) await fill(storage, 100)
        const stop = await serveSnapshots(join(folder, 'store'), storage, {
          program: '1',
          now: () => new Date(0),
          onError: assert.ifError,
        })
        const readers = [1, 2].map(async () => {
          const source = await connectToSnapshots(join(folder, 'store'))
          assert.ok(source)
          return await read(source)
        })
        for (const {found} of await Promise.all(readers)) assert.equal(found.size, 100)
        await stop()
        await storage.close()
      }
      assert.equal(await connectToSnapshots(join(folder, 'store')), undefined)
    })

    it('becomes a store that goes on from a higher revision, without a history', async () => {
      const first = await openLmdbStorage(folder)
      await first.close()
      const records = [
        {key: '/b', created: 3, revision: 9, value: value('two')},
        {key: '/a', created: 2, revision: 2, value: value('one')},
      ]
      const builder = await buildStore(join(folder, 'store', 'data.mdb'), 1_000)
      await builder.add(decodeEntries(encodeEntries(records)))
      await builder.end()
      assert.equal(storeRevision(folder), 1_000)
      const storage = await openLmdbStorage(folder)
      assert.equal(await storage.revision(), 1_000)
      assert.equal((await storage.get('/b'))?.revision, 9)
      assert.equal((await storage.get('/b'))?.created, 3)
      await assert.rejects(storage.list('', {revision: 999}), {code: 'STORE_COMPACTED'})
      assert.equal((await storage.update('/a', value('new'), 2)).revision, 1_001)
      await storage.close()
    })

    it('is refused if a record has a revision that cannot be', async () => {
      await (await openLmdbStorage(folder)).close()
      const builder = await buildStore(join(folder, 'store', 'data.mdb'), 5)
      const record = {key: '/a', created: 2, revision: 6, value: value('one')}
      await assert.rejects(builder.add([record]), {code: 'BACKUP_INVALID'})
      await builder.abandon()
    })
  })
})
