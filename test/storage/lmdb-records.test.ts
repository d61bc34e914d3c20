import assert from 'node:assert/strict'
import {copyFile} from 'node:fs/promises'
import {join} from 'node:path'
import {checkLmdbFile} from '../../src/storage/lmdb-check.ts'
import {openLmdb} from '../../src/storage/lmdb-file.ts'
import {LmdbRecords} from '../../src/storage/lmdb-records.ts'
import {newHeader, revisionOf} from '../../src/storage/record-codec.ts'
import type {VersionRecord} from '../../src/storage/record-store.ts'
import {prepareData, prepareFolder} from '../../src/storage/store-files.ts'
import {bytes, text} from './conformance-support.ts'
import {temporaryFolder} from './temporary-folder.ts'

describe('records in LMDB', () => {
  let folder: string
  let remove: () => Promise<void>

  beforeEach(async () => {
    ;({folder, remove} = await temporaryFolder())
    await prepareData(prepareFolder(folder))
  })
  afterEach(() => remove())

  const record = (revision: number, value: string): VersionRecord => ({
    revision,
    key: `/${revision}`,
    created: revision,
    value: bytes(value),
  })

  /** An LMDB whose next commit reports a failure, done or not: what an I/O error at the very end looks like. */
  function failingOnce({done}: {done: boolean}) {
    let fail = true
    const opened: ReturnType<typeof openLmdb>[] = []
    const open = (file: string) => {
      const database = openLmdb(file)
      opened.push(database)
      const batch = database.batch.bind(database)
      database.batch = async (action) => {
        if (!fail) return batch(action)
        fail = false
        if (done) await batch(action)
        throw Object.assign(new Error('commit failed'), {
          commitError: Promise.reject(new Error('EIO')),
        })
      }
      return database
    }
    return {open, opened}
  }

  /** What a restart at this moment would find. */
  async function revisionsOnDisk(): Promise<number[]> {
    const revisions: number[] = []
    await copyFile(join(folder, 'store', 'data.mdb'), join(folder, 'copy.mdb'))
    checkLmdbFile(join(folder, 'copy.mdb'), (key) => revisions.push(revisionOf(key)))
    return revisions.slice(1)
  }

  for (const done of [false, true]) {
    it(`are checked, opened again and rid of what was refused after a failed commit that was ${done ? '' : 'not '}done`, async () => {
      const {open, opened} = failingOnce({done})
      const records = new LmdbRecords(join(folder, 'store', 'data.mdb'), newHeader(), 1, open)
      const change = {remove: [], compacted: 0}
      await assert.rejects(
        records.commit({...change, put: [record(2, 'lost'), record(3, 'lost'), record(4, 'lost')]}),
        {code: 'STORE_WRITE_FAILED', message: /EIO/},
      )
      assert.equal(opened.length, 2)
      assert.deepEqual(await revisionsOnDisk(), [])
      await records.commit({...change, put: [record(2, 'kept')]})
      assert.equal(text(records.value(2)), 'kept')
      assert.throws(() => records.value(3), {code: 'STORE_CORRUPT'})
      assert.throws(() => records.value(4), {code: 'STORE_CORRUPT'})
      await records.close()
    })
  }

  it('take no more writes if the file lacks what was acknowledged', async () => {
    const data = join(folder, 'store', 'data.mdb')
    const {open} = failingOnce({done: false})
    const records = new LmdbRecords(data, newHeader(), 7, open)
    const change = {remove: [], compacted: 0}
    // The record of revision 7 was acknowledged, and is not there.
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(records.commit({...change, put: [record(8, 'v')]}), {
        code: 'STORE_WRITE_FAILED',
      })
    }
    assert.deepEqual(await revisionsOnDisk(), [])
    await records.close()
  })
})
