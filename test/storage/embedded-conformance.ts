import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {VersionedStorage} from '../../src/storage/versioned-storage.ts'
import {bytes, changesSince, Recorder} from './conformance-support.ts'
import {checkAgainstModel} from './model.ts'

type OpenEmpty = () => Promise<{storage: VersionedStorage; dispose: () => Promise<void>}>

/** What the drivers do beyond the contract because this process is their only writer. */
export function embeddedConformance(driver: string, openEmpty: OpenEmpty): void {
  describe(`the only writer of a store on ${driver}`, () => {
    let storage: VersionedStorage
    let dispose: () => Promise<void>

    beforeEach(async () => {
      ;({storage, dispose} = await openEmpty())
    })

    afterEach(async () => {
      await storage.close()
      await dispose()
    })

    it('counts every write from 2 on, and none that is refused', async () => {
      assert.equal(await storage.revision(), 1)
      const a = await storage.create('/a', bytes('1'))
      await assert.rejects(storage.create('/a', bytes('2')), {code: 'ALREADY_EXISTS'})
      const deleted = await storage.delete('/a', a.revision)
      assert.deepEqual([a.revision, deleted.revision, await storage.revision()], [2, 3, 3])
    })

    it('makes one commit for many writes at the same time, and tells of them together', async () => {
      const recorder = new Recorder()
      storage.subscribe('', 1, recorder)
      await Promise.all(
        Array.from({length: 64}, (_, index) => storage.create(`/k/${index}`, bytes('1'))),
      )
      assert.equal(await storage.revision(), 65)
      const {batches} = recorder
      assert.ok(batches.length <= 4, `64 writers took ${batches.length} commits`)
    })

    it('decides writes in the order they came', async () => {
      const results = await Promise.allSettled([
        storage.create('/a', bytes('1')),
        storage.update('/a', bytes('2'), 2),
        storage.create('/a', bytes('3')),
        storage.delete('/a', 3),
        storage.create('/a', bytes('4')),
      ])
      assert.deepEqual(
        results.map(({status}) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      )
      assert.deepEqual((await storage.get('/a'))?.revision, 5)
    })

    describe('bytes', () => {
      const large = new Uint8Array(400 * 1_024)

      it('are counted for what is there and for what is history only', async () => {
        const a = await storage.create('/a', bytes('12345'))
        const b = await storage.create('/b', bytes('123'))
        assert.deepEqual(storage.usage(), {live: 8, history: 0})
        await storage.update('/a', bytes('1'), a.revision)
        await storage.delete('/b', b.revision)
        assert.deepEqual(storage.usage(), {live: 1, history: 8})
        await storage.compact(4)
        assert.deepEqual(storage.usage(), {live: 1, history: 3})
        await storage.compact(5)
        assert.deepEqual(storage.usage(), {live: 1, history: 0})
      })

      it('of the history are bounded by a compaction at the revision that is named', async () => {
        let {revision} = await storage.create('/a', bytes('1234567890'))
        for (let count = 0; count < 9; count++)
          ({revision} = await storage.update('/a', bytes('1234567890'), revision))
        assert.equal(storage.historyWithin(90), 0)
        for (const most of [85, 50, 0]) {
          await storage.compact(storage.historyWithin(most))
          assert.equal(storage.usage().history, Math.floor(most / 10) * 10)
        }
      })

      it('end a page of a list, which has one entry at least', async () => {
        for (const key of ['/a', '/b', '/c']) await storage.create(key, large)
        const page = async (most: number, after?: string) => {
          const options = after === undefined ? {bytes: most} : {bytes: most, after}
          const {entries, remaining} = await storage.list('/', options)
          return [entries.map(({key}) => key).join(' '), remaining]
        }
        assert.deepEqual(await page(1), ['/a', 2])
        assert.deepEqual(await page(large.length + 1), ['/a /b', 1])
        assert.deepEqual(await page(1, '/b'), ['/c', 0])
        assert.deepEqual(await page(10 * large.length), ['/a /b /c', 0])
      })

      it('end a batch that is read from the history', async () => {
        let {revision} = await storage.create('/a', large)
        for (let count = 0; count < 7; count++)
          ({revision} = await storage.update('/a', large, revision))
        const batches: number[] = []
        const {signal} = new AbortController()
        for await (const batch of storage.history('/', 1, revision, signal))
          batches.push(batch.length)
        assert.deepEqual(batches, [2, 2, 2, 2])
      })
    })

    describe('compaction', () => {
      it('of everything leaves the revision where it is', async () => {
        const a = await storage.create('/a', bytes('1'))
        await storage.delete('/a', a.revision)
        await storage.compact(3)
        assert.equal(await storage.revision(), 3)
        assert.deepEqual(await storage.list('/'), {entries: [], revision: 3, remaining: 0})
        assert.equal((await storage.create('/a', bytes('2'))).revision, 4)
      })

      it('to a revision to come is refused, to a past one does nothing', async () => {
        await storage.create('/a', bytes('1'))
        await assert.rejects(storage.compact(3), {code: 'INVALID'})
        await storage.compact(2)
        await storage.compact(1)
        await assert.rejects(changesSince(storage, '/', 1), {code: 'STORE_COMPACTED'})
      })
    })

    it('does what a simple model does', async function () {
      this.timeout(60_000)
      await fc.assert(
        fc.asyncProperty(checkAgainstModel.commands, async (commands) => {
          const opened = await openEmpty()
          try {
            await checkAgainstModel.run(opened.storage, commands)
          } finally {
            await opened.storage.close()
            await opened.dispose()
          }
        }),
        {numRuns: 60},
      )
    })
  })
}
