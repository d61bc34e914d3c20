import assert from 'node:assert/strict'
import {autoCompactor, DEFAULT_HISTORY, startCompaction} from '../../src/storage/compaction.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {temporaryFolder} from './temporary-folder.ts'

const KIB = 1024

describe('automatic compaction', () => {
  const limits = {milliseconds: 300_000, atLeast: 100, atMost: 5_000, bytes: 1_000}

  function setUp() {
    let now = Date.parse('2026-01-01T00:00:00Z')
    let revision = 1
    const usage = {live: 0, history: 0}
    const compacted: number[] = []
    const storage = {
      usage: () => usage,
      historyWithin: (bytes: number) => revision - bytes / 100,
      revision: () => Promise.resolve(revision),
      compact: (target: number) => {
        compacted.push(target)
        return Promise.resolve()
      },
    }
    const run = autoCompactor(storage, {now: () => new Date(now)}, limits)
    const after = async (milliseconds: number, writes: number) => {
      now += milliseconds
      revision += writes
      await run()
    }
    return {after, compacted, usage}
  }

  it('keeps all that is younger than the limit', async () => {
    const {after, compacted} = setUp()
    for (let minute = 0; minute < 5; minute++) await after(59_000, 500)
    assert.deepEqual(compacted, [])
  })

  it('forgets what was there when the limit began', async () => {
    const {after, compacted} = setUp()
    for (let minute = 0; minute < 7; minute++) await after(60_000, 500)
    assert.deepEqual(compacted, [501, 1_001])
  })

  it('keeps the last changes however old they are', async () => {
    const {after, compacted} = setUp()
    await after(0, 550)
    await after(3_600_000, 20)
    assert.deepEqual(compacted, [471])
  })

  it('never keeps more than the bound however young they are', async () => {
    const {after, compacted} = setUp()
    await after(1_000, 20_000)
    assert.deepEqual(compacted, [15_001])
  })

  it('never keeps more bytes than the bound, and makes room for half of it', async () => {
    const {after, compacted, usage} = setUp()
    usage.history = 1_000
    await after(1_000, 50)
    usage.history = 1_001
    await after(1_000, 0)
    assert.deepEqual(compacted, [46])
  })

  it('follows many large updates at once, so that they fill neither the history nor the disk', async () => {
    const {folder, remove} = await temporaryFolder()
    const storage = await openLmdbStorage(folder)
    const errors: unknown[] = []
    const limits = {...DEFAULT_HISTORY, bytes: 1000 * KIB}
    const since = await storage.revision()
    const stop = startCompaction(storage, since, (error) => errors.push(error), limits)
    let {revision} = await storage.create('/a', new Uint8Array(100 * KIB))
    for (let count = 0; count < 150; count++) {
      ;({revision} = await storage.update('/a', new Uint8Array(100 * KIB), revision))
      assert.ok(storage.usage().history <= 1200 * KIB, `${storage.usage().history}`)
    }
    stop()
    assert.deepEqual(errors, [])
    assert.ok((await storage.size()) < 6000 * KIB, `${await storage.size()} bytes on the disk`)
    await storage.close()
    await remove()
  })

  it('is not tried again at every write while a reader holds the history, and then makes room', async () => {
    const storage = openMemoryStorage()
    const compact = storage.compact.bind(storage)
    let tries = 0
    storage.compact = (revision) => {
      tries++
      return compact(revision)
    }
    const limits = {...DEFAULT_HISTORY, atLeast: 0, bytes: 10 * KIB}
    const stop = startCompaction(storage, await storage.revision(), () => assert.fail(), limits)
    const {release} = storage.hold()
    let {revision} = await storage.create('/a', new Uint8Array(KIB))
    const write = async (count: number) => {
      for (let done = 0; done < count; done++) {
        ;({revision} = await storage.update('/a', new Uint8Array(KIB), revision))
      }
    }
    await write(100)
    assert.ok(storage.usage().history >= 99 * KIB)
    // Once for each half of the limit, not for each write.
    assert.ok(tries > 0 && tries <= 20, `${tries} tries`)
    release()
    await write(10)
    assert.ok(storage.usage().history <= 10 * KIB, `${storage.usage().history}`)
    stop()
    await storage.close()
  })
})
