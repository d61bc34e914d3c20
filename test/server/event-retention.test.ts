import assert from 'node:assert/strict'
import {EventRetention} from '../../src/server/event-retention.ts'
import {Registry} from '../../src/server/registry/registry.ts'
import {events} from '../../src/server/resources/events.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {HOUR, MINUTE, TestClock} from './authn/support.ts'

const ROOT = '/registry/core/events/'

describe('Events', () => {
  let storage: Storage
  let clock: TestClock
  let registry: Registry
  let retention: EventRetention
  let errors: unknown[]
  const limits = {milliseconds: HOUR, count: 5, bytes: 10_000}
  const start = async () => {
    registry = await Registry.open(storage, [events], {windowBytes: 1e6})
    retention = new EventRetention(registry, clock, (error) => errors.push(error), limits)
  }
  const textOf = (message = '') => {
    const creationTimestamp = clock.now().toISOString()
    return Buffer.from(JSON.stringify({metadata: {creationTimestamp}, message}))
  }
  const write = async (key: string, message?: string) => {
    const before = await storage.get(ROOT + key)
    if (before === undefined) await storage.create(ROOT + key, textOf(message))
    else await storage.update(ROOT + key, textOf(message), before.revision)
  }
  const left = async () => {
    await retention.sweep()
    return Array.from(registry.store('', 'events')?.range('') ?? [], ({key}) => key)
  }

  beforeEach(async () => {
    storage = openMemoryStorage()
    clock = new TestClock()
    errors = []
    await start()
  })
  afterEach(() => {
    assert.deepEqual(errors, [])
    registry.close()
    return storage.close()
  })

  it('go an hour after their last change', async () => {
    await write('a/first')
    await write('a/second')
    clock.advance(30 * MINUTE)
    await write('a/first', 'again')
    clock.advance(30 * MINUTE)
    assert.deepEqual(await left(), ['a/first'])
    clock.advance(30 * MINUTE)
    assert.deepEqual(await left(), [])
  })

  it('go in time after a restart, too', async () => {
    await write('a/first')
    clock.advance(40 * MINUTE)
    await write('a/second')
    registry.close()
    await start()
    clock.advance(20 * MINUTE)
    assert.deepEqual(await left(), ['a/second'])
  })

  it('of one namespace go before their time if they are too many, the oldest first', async () => {
    await write('b/other')
    for (let count = 1; count <= 8; count++) await write(`a/${count}`)
    assert.deepEqual(await left(), ['a/4', 'a/5', 'a/6', 'a/7', 'a/8', 'b/other'])
  })

  it('go before their time if they take too many bytes, the oldest first', async () => {
    for (const key of ['a/1', 'b/2', 'c/3', 'd/4']) await write(key, 'x'.repeat(3000))
    assert.deepEqual(await left(), ['b/2', 'c/3', 'd/4'])
  })

  it('stay if they were changed at the moment when they should go', async () => {
    await write('a/first')
    clock.advance(HOUR)
    const changed = write('a/first', 'again')
    const swept = retention.sweep()
    await Promise.all([changed.catch(() => write('a/first', 'again')), swept])
    assert.deepEqual(await left(), ['a/first'])
  })

  describe('whose deletion fails', () => {
    /** One sweep that fails; what `meanwhile` does happens before the store says so. */
    async function failedSweep(meanwhile: (key: string, revision: number) => Promise<unknown>) {
      const remove = storage.delete.bind(storage)
      const failure = new Error('not now')
      storage.delete = async (key, revision) => {
        storage.delete = remove
        await meanwhile(key, revision)
        throw failure
      }
      await retention.sweep()
      assert.deepEqual(errors.splice(0), [failure])
    }

    it('are counted once if they were changed meanwhile', async () => {
      await write('a/first', 'x'.repeat(3000))
      clock.advance(HOUR)
      await failedSweep(() => write('a/first', 'y'.repeat(3000)))
      await write('a/second', 'x'.repeat(3000))
      await write('a/third', 'x'.repeat(3000))
      assert.deepEqual(await left(), ['a/first', 'a/second', 'a/third'])
      clock.advance(HOUR)
      assert.deepEqual(await left(), [])
    })

    it('are not counted if they were deleted all the same', async () => {
      for (let count = 1; count <= 5; count++) await write(`a/${count}`)
      clock.advance(HOUR - 1)
      for (let count = 2; count <= 5; count++) await write(`a/${count}`, 'again')
      clock.advance(1)
      await failedSweep((key, revision) => storage.delete(key, revision))
      await write('a/6')
      assert.deepEqual(await left(), ['a/2', 'a/3', 'a/4', 'a/5', 'a/6'])
    })

    it('are still the first to go', async () => {
      await write('a/1')
      clock.advance(HOUR)
      for (let count = 2; count <= 5; count++) await write(`a/${count}`)
      await failedSweep(() => Promise.resolve())
      await write('a/6')
      assert.deepEqual(await left(), ['a/2', 'a/3', 'a/4', 'a/5', 'a/6'])
    })
  })
})
