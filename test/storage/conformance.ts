import assert from 'node:assert/strict'
import type {Storage} from '../../src/storage/storage.ts'
import {changeConformance} from './conformance-changes.ts'
import {listConformance} from './conformance-lists.ts'
import {bytes, text, type Opened, type Subject} from './conformance-support.ts'

/** What every driver of Storage must do. */
export function storageConformance(driver: string, openEmpty: () => Promise<Opened>): void {
  describe(`storage on ${driver}`, () => {
    let storage: Storage
    let other: Storage
    let subject: Subject
    let dispose: () => Promise<void>
    let largest: number

    beforeEach(async () => {
      const opened = await openEmpty()
      largest = opened.largest ?? 3 * 1_024 * 1_024
      subject = {...opened, other: opened.other ?? opened.storage}
      ;({storage, other} = subject)
      ;({dispose} = opened)
    })

    afterEach(async () => {
      await storage.close()
      await dispose()
    })

    const writerOf = (index: number) => (index % 2 === 0 ? storage : other)
    describe('revisions', () => {
      it('grow with every write of any key, whoever writes', async () => {
        const start = await storage.revision()
        const a = await storage.create('/a', bytes('1'))
        const b = await other.create('/b', bytes('1'))
        const updated = await storage.update('/a', bytes('2'), a.revision)
        const deleted = await other.delete('/b', b.revision)

        const revisions = [start, a.revision, b.revision, updated.revision, deleted.revision]
        assert.deepEqual(
          revisions,
          [...new Set(revisions)].sort((one, next) => one - next),
        )
        assert.deepEqual(a, {
          key: '/a',
          value: bytes('1'),
          revision: a.revision,
          created: a.revision,
        })
        assert.deepEqual(updated, {...a, value: bytes('2'), revision: updated.revision})
      })

      it('that are asked for include every write acknowledged before', async () => {
        for (const writer of [storage, other]) {
          const {revision} = await writer.create(`/${String(writer === storage)}`, bytes('1'))
          assert.ok((await storage.revision()) >= revision)
          if (other === storage) break
        }
      })

      it('of a key created again are new ones', async () => {
        const first = await storage.create('/a', bytes('1'))
        const {revision} = await storage.delete('/a', first.revision)
        const second = await storage.create('/a', bytes('2'))
        assert.ok(second.revision > revision)
        assert.equal(second.created, second.revision)
      })
    })

    describe('a write', () => {
      it('is refused where the key is not there', async () => {
        await assert.rejects(storage.update('/a', bytes('1'), 1), {code: 'NOT_FOUND'})
        await assert.rejects(storage.delete('/a', 1), {code: 'NOT_FOUND'})
      })

      it('that is refused changes nothing', async () => {
        const a = await storage.create('/a', bytes('1'))
        await assert.rejects(other.create('/a', bytes('2')), {code: 'ALREADY_EXISTS'})
        assert.deepEqual(await storage.get('/a'), a)
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

      it('takes any bytes: none, and very many', async () => {
        const large = new Uint8Array(largest).map((_, index) => index % 251)
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
      it('let exactly one of those who swap the same revision win', async () => {
        const {revision} = await storage.create('/a', bytes('0'))
        const results = await Promise.allSettled(
          Array.from({length: 20}, (_, index) =>
            writerOf(index).update('/a', bytes(`${index}`), revision),
          ),
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
        const increment = async (writer: Storage): Promise<void> => {
          const entry = await storage.get('/counter')
          assert.ok(entry)
          try {
            await writer.update(
              '/counter',
              bytes(`${Number(text(entry.value)) + 1}`),
              entry.revision,
            )
          } catch {
            await increment(writer)
          }
        }
        await Promise.all(Array.from({length: 12}, (_, index) => increment(writerOf(index))))
        assert.equal(text((await storage.get('/counter'))?.value), '12')
      })
    })

    listConformance(() => subject)
    changeConformance(() => subject)

    it('accepts a check of its health, at once and again', async () => {
      await Promise.all([storage.check(), storage.check()])
      await storage.check()
    })

    describe('closing', () => {
      it('lets accepted writes finish and takes no more', async () => {
        const accepted = [storage.create('/a', bytes('1')), storage.create('/b', bytes('1'))]
        await storage.close()
        assert.deepEqual(
          (await Promise.all(accepted)).map(({key}) => key),
          ['/a', '/b'],
        )
        const closed = {code: 'STORE_CLOSED'}
        await assert.rejects(storage.create('/c', bytes('1')), closed)
        await assert.rejects(storage.get('/a'), closed)
        await assert.rejects(storage.revision(), closed)
        await assert.rejects(storage.check(), closed)
      })
    })
  })
}
