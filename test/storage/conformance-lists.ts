import assert from 'node:assert/strict'
import type {Storage} from '../../src/storage/storage.ts'
import {bytes, stateAt, type Subject} from './conformance-support.ts'

export function listConformance(subject: () => Subject): void {
  describe('a list', () => {
    let storage: Storage
    let other: Storage
    beforeEach(() => {
      ;({storage, other} = subject())
    })

    it('of an empty store has a revision to watch from', async () => {
      const {entries, revision, remaining} = await storage.list('/')
      assert.deepEqual([entries, remaining], [[], 0])
      assert.ok(revision > 0)
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
      assert.deepEqual([page.entries.map(({key}) => key), page.remaining], [['/b', '/c', '/d'], 0])
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
      const start = await storage.revision()
      const a = await storage.create('/a', bytes('1'))
      const b = await storage.create('/b', bytes('1'))
      const changed = await storage.update('/a', bytes('2'), a.revision)
      const deleted = await storage.delete('/b', b.revision)
      const c = await storage.create('/c', bytes('1'))

      assert.deepEqual(await stateAt(storage, '/', start), [])
      assert.deepEqual(await stateAt(storage, '/', b.revision), ['/a=1', '/b=1'])
      assert.deepEqual(await stateAt(storage, '/', changed.revision), ['/a=2', '/b=1'])
      assert.deepEqual(await stateAt(storage, '/', deleted.revision), ['/a=2'])
      assert.deepEqual(await stateAt(storage, '/', c.revision), ['/a=2', '/c=1'])
    })

    it('shows what another process has just written', async () => {
      await other.create('/a', bytes('1'))
      assert.deepEqual((await storage.list('/')).entries, [await storage.get('/a')])
    })

    it('of a revision to come is refused', async () => {
      await assert.rejects(storage.list('/', {revision: (await storage.revision()) + 1000}), {
        code: 'INVALID',
      })
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
}
