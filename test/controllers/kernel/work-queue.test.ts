import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {setImmediate} from 'node:timers/promises'
import {DONE, WorkQueue} from '../../../src/controllers/kernel/work-queue.ts'
import {sleep} from '../../../src/runtime.ts'

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(1)
}

describe('WorkQueue', () => {
  afterEach(() => mock.timers.reset())

  it('works once on a key that was added many times before its turn', async () => {
    const seen: string[] = []
    const queue = new WorkQueue(async (key) => {
      seen.push(key)
      await setImmediate()
      return DONE
    })
    for (const key of ['first', 'a', 'b', 'a', 'a', 'b', 'last']) queue.add(key)
    await until(() => seen.includes('last'))
    await queue.close()
    assert.deepEqual(seen, ['first', 'a', 'b', 'last'])
  })

  it('works again on a key that was added while it was worked on, never twice at once', async () => {
    let running = 0
    let most = 0
    let count = 0
    const queue = new WorkQueue(
      async () => {
        most = Math.max(most, ++running)
        if (++count === 1) queue.add('a')
        await setImmediate()
        running--
        return DONE
      },
      {workers: 4},
    )
    queue.add('a')
    await until(() => count === 2)
    await queue.close()
    assert.equal(most, 1)
  })

  it('tries a failure again with growing waits, and tells of each', async () => {
    mock.timers.enable({apis: ['setTimeout']})
    const errors: string[] = []
    let count = 0
    const queue = new WorkQueue(
      () => (++count < 4 ? Promise.reject(new Error('no')) : Promise.resolve(DONE)),
      {backoff: {first: 10, most: 1000}, onError: (key) => errors.push(key)},
    )
    queue.add('a')
    for (const [index, wait] of [10, 20, 40].entries()) {
      await setImmediate()
      mock.timers.tick(wait - 1)
      await setImmediate()
      assert.equal(count, index + 1)
      mock.timers.tick(1)
    }
    await queue.close()
    assert.deepEqual([count, errors], [4, ['a', 'a', 'a']])
  })

  it('calls back after the time that a reconcile asked for', async () => {
    let count = 0
    const queue = new WorkQueue(() => Promise.resolve(++count === 1 ? {requeueAfter: 5} : DONE))
    queue.add('a')
    await until(() => count === 2)
    await queue.close()
  })

  it('keeps what was added before it may begin, each key once', async () => {
    const worked: string[] = []
    let begin: () => void = () => undefined
    const queue = new WorkQueue(
      (key) => {
        worked.push(key)
        return Promise.resolve(DONE)
      },
      {begin: new Promise<void>((resolve) => (begin = resolve))},
    )
    for (const key of ['a', 'b', 'a']) queue.add(key)
    await setImmediate()
    assert.deepEqual(worked, [])

    begin()
    await setImmediate()
    assert.deepEqual(worked, ['a', 'b'])
    await queue.close()
  })

  it('waits for what runs when it is closed, and takes nothing more', async () => {
    let finish: () => void = () => undefined
    const steps: string[] = []
    const queue = new WorkQueue(async (key) => {
      steps.push(`${key} runs`)
      await new Promise<void>((resolve) => (finish = resolve))
      return DONE
    })
    queue.add('a')
    queue.add('b')
    await until(() => steps.length > 0)
    const closed = queue.close().then(() => steps.push('closed'))
    await setImmediate()
    steps.push('a ends')
    finish()
    await closed
    queue.add('c')
    await setImmediate()
    assert.deepEqual(steps, ['a runs', 'a ends', 'closed'])
  })
})
