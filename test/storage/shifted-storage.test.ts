import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {ShiftedStorage} from '../../src/storage/shifted-storage.ts'
import {bytes, changesSince, Recorder} from './conformance-support.ts'
import {storageConformance} from './conformance.ts'

const OFFSET = 1_000_000_000_000

storageConformance('memory with an offset', () => {
  const inner = openMemoryStorage()
  return Promise.resolve({
    storage: new ShiftedStorage(inner, OFFSET),
    compact: (revision) => inner.compact(revision - OFFSET),
    dispose: () => Promise.resolve(),
  })
})

describe('a store that continues another one', () => {
  let storage: ShiftedStorage
  beforeEach(() => {
    storage = new ShiftedStorage(openMemoryStorage(), OFFSET)
  })
  afterEach(() => storage.close())

  it('has only revisions above those of the other', async () => {
    const {revision, created} = await storage.create('/a', bytes('1'))
    assert.ok(revision > OFFSET && created === revision)
    assert.equal(await storage.revision(), revision)
  })

  it('has forgotten the history of the other', async () => {
    const gone = {code: 'STORE_COMPACTED'}
    for (const revision of [0, 7, OFFSET]) {
      await assert.rejects(storage.list('/', {revision}), gone)
      await assert.rejects(changesSince(storage, '/', revision), gone)
      const recorder = new Recorder()
      storage.subscribe('/', revision, recorder)
      assert.equal(recorder.isLost, false)
      await recorder.until(() => recorder.isLost)
    }
  })

  it('does not call a subscriber that has stopped', async () => {
    const recorder = new Recorder()
    storage.subscribe('/', 1, recorder)()
    await storage.create('/a', bytes('1'))
    assert.deepEqual([recorder.isLost, recorder.reached], [false, 0])
  })

  it('refuses a write to a revision of the other, and names its own', async () => {
    const {revision} = await storage.create('/a', bytes('1'))
    for (const old of [0, 2, OFFSET])
      await assert.rejects(storage.update('/a', bytes('2'), old), {
        code: 'CONFLICT',
        message: `the key is at revision ${revision}`,
        facts: {revision},
      })
    await assert.rejects(storage.update('/b', bytes('2'), OFFSET), {code: 'NOT_FOUND'})
  })
})
