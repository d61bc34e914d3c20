import assert from 'node:assert/strict'
import type {PastEvent, Storage, StorageEvent} from '../../src/storage/storage.ts'
import {
  bytes,
  changesSince,
  Recorder,
  revisionsOf,
  stateAt,
  type Subject,
} from './conformance-support.ts'

export function changeConformance(subject: () => Subject): void {
  let storage: Storage
  let other: Storage
  let compact: Subject['compact']

  beforeEach(() => {
    ;({storage, other, compact} = subject())
  })

  describe('the history', () => {
    it('has every change above a revision with what was there before', async () => {
      const start = await storage.revision()
      const a = await storage.create('/a', bytes('1'))
      const updated = await other.update('/a', bytes('2'), a.revision)
      await storage.create('/other', bytes('1'))
      const deleted = await storage.delete('/a', updated.revision)
      const events: PastEvent[] = [
        {type: 'put', key: '/a', revision: a.revision, entry: a},
        {type: 'put', key: '/a', revision: updated.revision, entry: updated, previous: a},
        {type: 'delete', key: '/a', revision: deleted.revision, previous: updated},
      ]
      assert.deepEqual(await changesSince(storage, '/a', start), events)
      assert.deepEqual(await changesSince(storage, '/a', a.revision), events.slice(1))
    })

    it('ends at the revision that is asked for, also if that is of another key', async () => {
      const start = await storage.revision()
      const a = await storage.create('/a/1', bytes('1'))
      const {revision} = await other.create('/b', bytes('1'))
      await storage.create('/a/2', bytes('1'))
      const found: StorageEvent[] = []
      const {signal} = new AbortController()
      for await (const batch of storage.history('/a/', start, revision, signal))
        found.push(...batch)
      assert.deepEqual(revisionsOf(found), [a.revision])
    })

    it('ends with its signal', async () => {
      const start = await storage.revision()
      const {revision} = await storage.create('/a', bytes('1'))
      const seen: StorageEvent[] = []
      for await (const batch of storage.history('/', start, revision, AbortSignal.abort()))
        seen.push(...batch)
      assert.deepEqual(seen, [])
    })
  })

  describe('a subscriber', () => {
    it('is told of every change once and in order, wherever it starts, while others write', async () => {
      const start = await storage.revision()
      const recorders: Recorder[] = []
      const subscribe = (since: number) => {
        const recorder = new Recorder()
        storage.subscribe('/w/', since, recorder)
        recorders.push(recorder)
      }
      subscribe(start)
      let middle = start
      for (let round = 0; round < 20; round++) {
        const written = await Promise.all(
          Array.from({length: 8}, (_, index) =>
            (index % 2 === 0 ? storage : other).create(`/w/${round}-${index}`, bytes('1')),
          ),
        )
        if (round === 10) middle = Math.max(...written.map(({revision}) => revision))
        if (round % 5 === 0) subscribe(start)
      }
      subscribe(middle)
      const all = await changesSince(storage, '/w/', start)
      assert.equal(all.length, 160)
      for (const recorder of recorders) {
        const expected = recorder === recorders.at(-1) ? all.slice(88) : all
        await recorder.until(() => recorder.events.length >= expected.length)
        assert.deepEqual(recorder.events, expected)
      }
    })

    it('is told of a write of its own process before that resolves', async () => {
      const recorder = new Recorder()
      storage.subscribe('/a', await storage.revision(), recorder)
      const {revision} = await storage.create('/a', bytes('1'))
      assert.deepEqual(revisionsOf(recorder.events), [revision])
      assert.ok(recorder.reached >= revision)
    })

    it('reaches the current revision once that was asked for, also if only other keys change', async () => {
      const recorder = new Recorder()
      storage.subscribe('/a/', await storage.revision(), recorder)
      await other.create('/b', bytes('1'))
      const revision = await storage.revision()
      await recorder.until(() => recorder.reached >= revision)
      assert.deepEqual(recorder.events, [])
    })

    it('is told nothing more after it has stopped', async () => {
      const recorder = new Recorder()
      const stop = storage.subscribe('/', await storage.revision(), recorder)
      const {revision} = await storage.create('/a', bytes('1'))
      stop()
      await storage.create('/b', bytes('1'))
      assert.deepEqual(revisionsOf(recorder.events), [revision])
    })

    it('is told that changes are lost if the history it needs is gone', async () => {
      const start = await storage.revision()
      const a = await storage.create('/a', bytes('1'))
      const {revision} = await storage.update('/a', bytes('2'), a.revision)
      await compact(revision)
      const recorder = new Recorder()
      storage.subscribe('/', start, recorder)
      assert.equal(recorder.isLost, false)
      await recorder.until(() => recorder.isLost)
      await storage.create('/b', bytes('1'))
      assert.deepEqual(recorder.events, [])
    })
  })

  describe('compaction', () => {
    it('keeps the newest state and refuses what is gone', async () => {
      const a = await storage.create('/a', bytes('1'))
      const b = await storage.create('/b', bytes('1'))
      const {revision} = await storage.update('/a', bytes('2'), a.revision)
      const deleted = await storage.delete('/b', b.revision)
      await compact(revision)

      assert.deepEqual(await stateAt(storage, '/', revision), ['/a=2', '/b=1'])
      assert.deepEqual(await stateAt(storage, '/', deleted.revision), ['/a=2'])
      const gone = {code: 'STORE_COMPACTED'}
      await assert.rejects(storage.list('/', {revision: b.revision}), gone)
      await assert.rejects(changesSince(storage, '/', b.revision), gone)
      const [change] = await changesSince(storage, '/', revision)
      assert.equal(change?.previous?.revision, b.revision)
    })

    it('does not disturb a subscriber that waits for other keys', async () => {
      const recorder = new Recorder()
      storage.subscribe('/wanted', await storage.revision(), recorder)
      for (let index = 0; index < 5; index++) await other.create(`/x/${index}`, bytes('1'))
      const current = await storage.revision()
      await recorder.until(() => recorder.reached >= current)
      await compact(current)
      const {revision} = await storage.create('/wanted', bytes('1'))
      assert.deepEqual([revisionsOf(recorder.events), recorder.isLost], [[revision], false])
    })
  })
}
