import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {Storage, StorageEvent} from '../../src/storage/storage.ts'
import {checkAgainstModel} from './model.ts'

/** Opens an empty store; closing it is the suite's business, throwing its files away is `dispose`'s. */
export type OpenEmpty = () => Promise<{storage: Storage; dispose: () => Promise<void>}>

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value)

/** The first so many events of a watch. */
export async function take(
  storage: Storage,
  prefix: string,
  since: number,
  count: number,
): Promise<StorageEvent[]> {
  const stop = new AbortController()
  const events: StorageEvent[] = []
  for await (const batch of storage.watch(prefix, since, stop.signal)) {
    events.push(...batch)
    if (events.length >= count) break
  }
  return events
}

/** What every driver of Storage must do. */
export function storageConformance(driver: string, openEmpty: OpenEmpty): void {
  describe(`storage on ${driver}`, () => {
    let storage: Storage
    let dispose: () => Promise<void>

    beforeEach(async () => {
      ;({storage, dispose} = await openEmpty())
    })

    afterEach(async () => {
      await storage.close()
      await dispose()
    })

    const keysOf = async (prefix: string, revision: number) =>
      (await storage.list(prefix, {revision})).entries.map(
        ({key, value}) => `${key}=${text(value)}`,
      )

    describe('revisions', () => {
      it('start at 1 and count every write of any key', async () => {
        assert.equal(storage.revision(), 1)
        const a = await storage.create('/a', bytes('1'))
        const b = await storage.create('/b', bytes('1'))
        const updated = await storage.update('/a', bytes('2'), a.revision)
        const deleted = await storage.delete('/b', b.revision)

        assert.deepEqual(a, {key: '/a', value: bytes('1'), revision: 2, created: 2})
        assert.deepEqual(updated, {key: '/a', value: bytes('2'), revision: 4, created: 2})
        assert.deepEqual(deleted, {previous: b, revision: 5})
        assert.equal(storage.revision(), 5)
      })

      it('are not used up by a write that is refused', async () => {
        await storage.create('/a', bytes('1'))
        await assert.rejects(storage.create('/a', bytes('2')), {code: 'ALREADY_EXISTS'})
        assert.equal((await storage.create('/b', bytes('1'))).revision, 3)
      })

      it('of a key created again are new ones', async () => {
        const first = await storage.create('/a', bytes('1'))
        await storage.delete('/a', first.revision)
        const second = await storage.create('/a', bytes('2'))
        assert.deepEqual([second.revision, second.created], [4, 4])
      })
    })

    describe('a write', () => {
      it('is refused where the key is not there', async () => {
        await assert.rejects(storage.update('/a', bytes('1'), 1), {code: 'NOT_FOUND'})
        await assert.rejects(storage.delete('/a', 1), {code: 'NOT_FOUND'})
      })

      it('is refused where the key has another revision', async () => {
        const {revision} = await storage.create('/a', bytes('1'))
        await storage.update('/a', bytes('2'), revision)
        await assert.rejects(storage.update('/a', bytes('3'), revision), {code: 'CONFLICT'})
        await assert.rejects(storage.delete('/a', revision), {code: 'CONFLICT'})
        assert.equal(text((await storage.get('/a'))?.value), '2')
      })

      it('keeps its bytes whatever the caller does with them after', async () => {
        const value = bytes('before')
        const written = storage.create('/a', value)
        value.fill(0)
        await written
        assert.equal(text((await storage.get('/a'))?.value), 'before')
      })

      it('takes any bytes: none, and three mebibytes', async () => {
        const large = new Uint8Array(3 * 1_024 * 1_024).map((_, index) => index % 251)
        await storage.create('/none', new Uint8Array(0))
        await storage.create('/large', large)
        assert.deepEqual((await storage.get('/none'))?.value, new Uint8Array(0))
        assert.deepEqual((await storage.get('/large'))?.value, large)
      })

      for (const [name, key] of [
        ['empty', ''],
        ['too long', 'k'.repeat(1_979)],
        ['too long in bytes', 'é'.repeat(990)],
        ['not well-formed', '/\ud800'],
      ] as const) {
        it(`is refused for a key that is ${name}`, async () => {
          await assert.rejects(storage.create(key, bytes('1')), {code: 'INVALID'})
        })
      }

      it('takes a key of the greatest length', async () => {
        const key = `/${'k'.repeat(1_977)}`
        await storage.create(key, bytes('1'))
        assert.equal((await storage.get(key))?.key, key)
      })
    })

    describe('writers at the same time', () => {
      it('share commits', async () => {
        let commits = 0
        storage.subscribe('', () => commits++)
        await Promise.all(
          Array.from({length: 64}, (_, index) => storage.create(`/k/${index}`, bytes('1'))),
        )
        assert.equal(storage.revision(), 65)
        assert.ok(commits <= 4, `64 writers took ${commits} commits`)
      })

      it('let exactly one of those who swap the same revision win', async () => {
        const {revision} = await storage.create('/a', bytes('0'))
        const results = await Promise.allSettled(
          Array.from({length: 20}, (_, index) => storage.update('/a', bytes(`${index}`), revision)),
        )
        const won = results.filter(({status}) => status === 'fulfilled')
        const codes = results.flatMap((result) =>
          result.status === 'rejected' ? [(result.reason as {code: string}).code] : [],
        )
        assert.equal(won.length, 1)
        assert.deepEqual(new Set(codes), new Set(['CONFLICT']))
      })

      it('lose no increment to one another', async () => {
        await storage.create('/counter', bytes('0'))
        const increment = async (): Promise<void> => {
          const entry = await storage.get('/counter')
          assert.ok(entry)
          try {
            await storage.update(
              '/counter',
              bytes(`${Number(text(entry.value)) + 1}`),
              entry.revision,
            )
          } catch {
            await increment()
          }
        }
        await Promise.all(Array.from({length: 12}, increment))
        assert.equal(text((await storage.get('/counter'))?.value), '12')
      })

      it('are decided in the order they came', async () => {
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
    })

    describe('a list', () => {
      it('of an empty store has a revision to watch from', async () => {
        assert.deepEqual(await storage.list('/'), {entries: [], revision: 1, remaining: 0})
      })

      it('holds the keys under the prefix in the order of their bytes', async () => {
        const keys = ['/p/\u{10000}', '/p/\uffee', '/p/b', '/p/a/1', '/p/a', '/p/B', '/q', '/o/z']
        for (const key of keys) await storage.create(key, bytes('1'))
        const {entries} = await storage.list('/p/')
        assert.deepEqual(
          entries.map(({key}) => key),
          keys
            .filter((key) => key.startsWith('/p/'))
            .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
        )
      })

      it('is cut at the limit and says how many stand behind', async () => {
        for (const key of ['/a', '/b', '/c', '/d']) await storage.create(key, bytes('1'))
        const page = await storage.list('/', {limit: 3, after: '/a'})
        assert.deepEqual(
          [page.entries.map(({key}) => key), page.remaining],
          [['/b', '/c', '/d'], 0],
        )
        const short = await storage.list('/', {limit: 1, after: '/a'})
        assert.deepEqual([short.entries.map(({key}) => key), short.remaining], [['/b'], 2])
      })

      it('starts after any key, also one that is not there or not under the prefix', async () => {
        for (const key of ['/a', '/c/1', '/c/2', '/d']) await storage.create(key, bytes('1'))
        const after = async (key: string) =>
          (await storage.list('/c/', {after: key})).entries.map((entry) => entry.key)
        assert.deepEqual(await after('/c/11'), ['/c/2'])
        assert.deepEqual(await after('/b'), ['/c/1', '/c/2'])
        assert.deepEqual(await after('/d'), [])
      })

      it('shows the state at a past revision', async () => {
        const a = await storage.create('/a', bytes('1'))
        const b = await storage.create('/b', bytes('1'))
        await storage.update('/a', bytes('2'), a.revision)
        await storage.delete('/b', b.revision)
        await storage.create('/c', bytes('1'))

        assert.deepEqual(await keysOf('/', 1), [])
        assert.deepEqual(await keysOf('/', 3), ['/a=1', '/b=1'])
        assert.deepEqual(await keysOf('/', 4), ['/a=2', '/b=1'])
        assert.deepEqual(await keysOf('/', 5), ['/a=2'])
        assert.deepEqual(await keysOf('/', 6), ['/a=2', '/c=1'])
      })

      it('of a revision to come is refused', async () => {
        await assert.rejects(storage.list('/', {revision: 2}), {code: 'INVALID'})
      })

      it('read in pages at one revision is whole while writers go on', async () => {
        for (let index = 0; index < 50; index++) {
          await storage.create(`/k/${String(index).padStart(3, '0')}`, bytes('old'))
        }
        const expected = (await storage.list('/k/')).entries
        const {revision} = await storage.list('/k/', {limit: 1})
        const found = []
        let after: string | undefined
        for (let page = 0; ; page++) {
          const {entries, remaining} = await storage.list('/k/', {
            limit: 7,
            revision,
            ...(after ? {after} : {}),
          })
          found.push(...entries)
          assert.equal(remaining, expected.length - found.length)
          if (remaining === 0) break
          after = entries.at(-1)?.key
          const victim = expected[page * 6 + 9]
          if (victim) await storage.delete(victim.key, victim.revision)
          await storage.create(`/k/${String(page * 5).padStart(3, '0')}x`, bytes('new'))
        }
        assert.deepEqual(found, expected)
      })
    })

    describe('a watch', () => {
      it('tells of every change above a revision with what was there before', async () => {
        const a = await storage.create('/a', bytes('1'))
        const updated = await storage.update('/a', bytes('2'), a.revision)
        await storage.create('/other', bytes('1'))
        await storage.delete('/a', updated.revision)
        assert.deepEqual(await take(storage, '/a', 1, 3), [
          {type: 'put', key: '/a', revision: 2, entry: a},
          {type: 'put', key: '/a', revision: 3, entry: updated, previous: a},
          {type: 'delete', key: '/a', revision: 5, previous: updated},
        ])
        assert.deepEqual(
          (await take(storage, '/a', 2, 2)).map(({revision}) => revision),
          [3, 5],
        )
      })

      it('has no gap and no repeat while writers go on, wherever it starts', async () => {
        const writers = async () => {
          for (let round = 0; round < 20; round++) {
            await Promise.all(
              Array.from({length: 8}, (_, index) =>
                storage.create(`/w/${round}-${index}`, bytes('1')),
              ),
            )
          }
        }
        const writing = writers()
        const watches = [1, 1, 1].map(async (since, lag) => {
          const revisions: number[] = []
          for await (const batch of storage.watch('/w/', since, new AbortController().signal)) {
            revisions.push(...batch.map(({revision}) => revision))
            if (revisions.length >= 160) break
            for (let turn = 0; turn < lag * 3; turn++) await new Promise(setImmediate)
          }
          return revisions
        })
        await writing
        const expected = Array.from({length: 160}, (_, index) => index + 2)
        for (const revisions of await Promise.all(watches)) assert.deepEqual(revisions, expected)
        const late = await take(storage, '/w/', 100, 61)
        assert.deepEqual(
          late.map(({revision}) => revision),
          expected.slice(99),
        )
      })

      it('that waits has its event before the write resolves', async () => {
        const order: string[] = []
        const watch = storage.watch('/a', 1, new AbortController().signal)[Symbol.asyncIterator]()
        const watching = watch.next().then(() => order.push('event'))
        storage.subscribe('/a', () => order.push('subscriber'))
        await storage.create('/a', bytes('1')).then(() => order.push('write'))
        await watching
        await watch.return?.()
        assert.deepEqual(order, ['subscriber', 'event', 'write'])
      })

      it('ends with its signal, waiting or not', async () => {
        const stop = new AbortController()
        const seen: StorageEvent[] = []
        const watching = (async () => {
          for await (const batch of storage.watch('/', 1, stop.signal)) seen.push(...batch)
        })()
        await storage.create('/a', bytes('1'))
        stop.abort()
        await watching
        for await (const batch of storage.watch('/', 1, stop.signal)) seen.push(...batch)
        assert.equal(seen.length, 1)
      })

      it('fails when the store is closed', async () => {
        const watching = take(storage, '/', 1, 1)
        await storage.close()
        await assert.rejects(watching, {code: 'STORE_CLOSED'})
      })
    })

    describe('a subscriber', () => {
      it('is called once for a commit, in order, until it stops', async () => {
        const first = await storage.create('/s/0', bytes('0'))
        const seen: number[] = []
        const {revision, stop} = storage.subscribe('/s/', (events) =>
          seen.push(...events.map((event) => event.revision)),
        )
        assert.equal(revision, first.revision)
        await Promise.all([
          storage.create('/s/1', bytes('1')),
          storage.create('/t', bytes('1')),
          storage.create('/s/2', bytes('2')),
        ])
        stop()
        await storage.create('/s/3', bytes('3'))
        assert.deepEqual(seen, [3, 5])
      })
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

      it('end a batch that a watch reads from the history', async () => {
        let {revision} = await storage.create('/a', large)
        for (let count = 0; count < 7; count++)
          ({revision} = await storage.update('/a', large, revision))
        const batches: number[] = []
        const stop = new AbortController()
        for await (const batch of storage.watch('/', 1, stop.signal)) {
          batches.push(batch.length)
          if (batch.at(-1)?.revision === revision) break
        }
        assert.deepEqual(batches, [2, 2, 2, 2])
      })
    })

    describe('compaction', () => {
      it('keeps the newest state and refuses what is gone', async () => {
        const a = await storage.create('/a', bytes('1'))
        const b = await storage.create('/b', bytes('1'))
        await storage.update('/a', bytes('2'), a.revision)
        await storage.delete('/b', b.revision)
        await storage.compact(4)

        assert.deepEqual(await keysOf('/', 4), ['/a=2', '/b=1'])
        assert.deepEqual(await keysOf('/', 5), ['/a=2'])
        await assert.rejects(storage.list('/', {revision: 3}), {code: 'STORE_COMPACTED'})
        await assert.rejects(take(storage, '/', 3, 1), {code: 'STORE_COMPACTED'})
        assert.equal((await take(storage, '/', 4, 1))[0]?.previous?.revision, b.revision)
      })

      it('of everything leaves the revision where it is', async () => {
        const a = await storage.create('/a', bytes('1'))
        await storage.delete('/a', a.revision)
        await storage.compact(3)
        assert.equal(storage.revision(), 3)
        assert.deepEqual(await storage.list('/'), {entries: [], revision: 3, remaining: 0})
        assert.equal((await storage.create('/a', bytes('2'))).revision, 4)
      })

      it('to a revision to come is refused, to a past one does nothing', async () => {
        await storage.create('/a', bytes('1'))
        await assert.rejects(storage.compact(3), {code: 'INVALID'})
        await storage.compact(2)
        await storage.compact(1)
        await assert.rejects(take(storage, '/', 1, 1), {code: 'STORE_COMPACTED'})
      })

      it('does not disturb a watch that waits for other keys', async () => {
        const watching = take(storage, '/wanted', 1, 1)
        for (let index = 0; index < 5; index++) await storage.create(`/x/${index}`, bytes('1'))
        await storage.compact(storage.revision())
        await storage.create('/wanted', bytes('1'))
        assert.equal((await watching)[0]?.revision, 7)
      })
    })

    describe('closing', () => {
      it('lets accepted writes finish and takes no more', async () => {
        const accepted = [storage.create('/a', bytes('1')), storage.create('/b', bytes('1'))]
        await storage.close()
        assert.deepEqual(
          (await Promise.all(accepted)).map(({revision}) => revision),
          [2, 3],
        )
        await assert.rejects(storage.create('/c', bytes('1')), {code: 'STORE_CLOSED'})
        await assert.rejects(storage.get('/a'), {code: 'STORE_CLOSED'})
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
