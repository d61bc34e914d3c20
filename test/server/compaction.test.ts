import assert from 'node:assert/strict'
import {systemClock} from '../../src/runtime.ts'
import {startCompaction} from '../../src/server/compaction.ts'
import {DEFAULT_HISTORY} from '../../src/storage/auto-compact.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {temporaryFolder} from '../storage/temporary-folder.ts'

const KIB = 1024

describe('compaction of the store', () => {
  it('follows many large updates at once, so that they fill neither the history nor the disk', async () => {
    const {folder, remove} = await temporaryFolder()
    const storage = await openLmdbStorage(folder)
    const errors: unknown[] = []
    const limits = {...DEFAULT_HISTORY, bytes: 1000 * KIB}
    const stop = startCompaction(storage, systemClock, (error) => errors.push(error), limits)
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
})
