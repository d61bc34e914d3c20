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
  const limits = {milliseconds: HOUR, count: 5, bytes: 10_000}
  const start = async () => {
    registry = await Registry.open(storage, [events], {windowBytes: 1e6})
    retention = new EventRetention(registry, clock, (error) => assert.fail(String(error)), limits)
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
    await start()
  })
  afterEach(() => {
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
})
