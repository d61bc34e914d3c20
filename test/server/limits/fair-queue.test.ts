import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {FairQueue, type FairQueueOptions} from '../../../src/server/limits/fair-queue.ts'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'

const BUSY = {code: 429, headers: {'Retry-After': '1'}}

describe('FairQueue', () => {
  const {signal} = new AbortController()
  beforeEach(() => mock.timers.enable({apis: ['setTimeout']}))
  afterEach(() => mock.timers.reset())

  const queueOf = (options: Partial<FairQueueOptions> = {}) =>
    new FairQueue({
      total: 4,
      perHolder: 4,
      reserves: {a: 0, b: 0},
      waitingPerHolder: 10,
      waitingPerGroup: 20,
      waitMilliseconds: 60_000,
      ...options,
    })
  const take = (queue: FairQueue, group: string, name: string, times: number) =>
    Promise.all(Array.from({length: times}, async () => queue.take({group, name}, signal)))

  it('lets one wait until somebody is done', async () => {
    const queue = queueOf()
    const [first] = await take(queue, 'a', 'x', 4)
    const later = queue.take({group: 'a', name: 'y'}, signal)
    assert.equal(queue.waiting, 1)
    first?.()
    const release = await later
    assert.deepEqual([queue.taken, queue.waiting], [4, 0])
    release()
    assert.equal(queue.taken, 3)
  })

  it('asks for a turn of the event loop only if somebody waits for the slot', async () => {
    const slice = new ProcessorSlice()
    const serve = mock.method(slice, 'serve', () => undefined)
    const queue = queueOf({total: 1, slice})
    const [first] = await take(queue, 'a', 'x', 1)
    first?.()
    assert.equal(serve.mock.callCount(), 0)
    const [second] = await take(queue, 'a', 'x', 1)
    const later = queue.take({group: 'a', name: 'y'}, signal)
    second?.()
    assert.equal(serve.mock.callCount(), 1)
    assert.ok(queue.startNext())
    ;(await later)()
  })

  it('takes callers in turn, however many requests one has lined up', async () => {
    const queue = queueOf({total: 1})
    let [release] = await take(queue, 'a', 'greedy', 1)
    const order: string[] = []
    const line = (group: string, name: string, times: number) => {
      for (let index = 0; index < times; index++) {
        void Promise.resolve(queue.take({group, name}, signal)).then((next) => {
          order.push(name)
          release = next
        })
      }
    }
    line('a', 'greedy', 5)
    line('a', 'honest', 1)
    line('b', 'other', 1)
    while (queue.waiting > 0) {
      release?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(order.indexOf('honest') <= 2, order.join())
    assert.ok(order.indexOf('other') <= 2, order.join())
    assert.equal(order.length, 7)
  })

  it('keeps the reserve of a group from the others', async () => {
    const queue = queueOf({total: 8, perHolder: 8, reserves: {a: 1 / 4, b: 1 / 4}})
    await take(queue, 'a', 'x', 6)
    void Promise.resolve(queue.take({group: 'a', name: 'y'}, signal)).catch(() => undefined)
    assert.deepEqual([queue.taken, queue.waiting], [6, 1])
    await take(queue, 'b', 'z', 2)
    assert.equal(queue.taken, 8)
  })

  it('refuses where one has lined up too much, and where its group has', async () => {
    const queue = queueOf({total: 1, waitingPerHolder: 2, waitingPerGroup: 3})
    await take(queue, 'a', 'x', 1)
    const line = (name: string) => void queue.take({group: 'a', name}, signal)
    line('x')
    line('x')
    assert.throws(() => queue.take({group: 'a', name: 'x'}, signal), BUSY)
    line('y')
    assert.throws(() => queue.take({group: 'a', name: 'z'}, signal), BUSY)
    void queue.take({group: 'b', name: 'z'}, signal)
    assert.equal(queue.waiting, 4)
  })

  it('lets nobody wait for longer than its time, nor after it has gone', async () => {
    const queue = queueOf({total: 1, waitMilliseconds: 10_000})
    const gone = new AbortController()
    const [release] = await take(queue, 'a', 'x', 1)
    const late = assert.rejects(Promise.resolve(queue.take({group: 'a', name: 'y'}, signal)), BUSY)
    const left = assert.rejects(
      Promise.resolve(queue.take({group: 'a', name: 'z'}, gone.signal)),
      BUSY,
    )
    gone.abort()
    await left
    mock.timers.tick(9999)
    assert.equal(queue.waiting, 1)
    mock.timers.tick(1)
    await late
    release?.()
    release?.()
    assert.deepEqual([queue.taken, queue.waiting, queue.holders], [0, 0, 0])
  })
})
