import assert from 'node:assert/strict'
import {DONE, WorkQueue} from '../../../src/controllers/kernel/work-queue.ts'
import {sleep} from '../../../src/runtime.ts'

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(1)
}

describe('WorkQueue', () => {
  it('works once on a key that was added many times before its turn', async () => {
    const seen: string[] = []
    const queue = new WorkQueue(async (key) => {
      seen.push(key)
      await sleep(2)
      return DONE
    })
    for (const key of ['first', 'a', 'b', 'a', 'a', 'b']) queue.add(key)
    await until(() => seen.length === 3)
    await sleep(10)
    await queue.close()
    assert.deepEqual(seen, ['first', 'a', 'b'])
  })

  it('works again on a key that was added while it was worked on, never twice at once', async () => {
    let running = 0
    let most = 0
    let count = 0
    const queue = new WorkQueue(
      async () => {
        most = Math.max(most, ++running)
        if (++count === 1) queue.add('a')
        await sleep(2)
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
    const times: number[] = []
    const errors: string[] = []
    const queue = new WorkQueue(
      () => {
        times.push(performance.now())
        return times.length < 4 ? Promise.reject(new Error('no')) : Promise.resolve(DONE)
      },
      {backoff: {first: 10, most: 1000}, onError: (key) => errors.push(key)},
    )
    queue.add('a')
    // The queue's own timers do not keep the process alive; this loop does.
    await until(() => times.length === 4)
    await queue.close()
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    assert.deepEqual(errors, ['a', 'a', 'a'])
    assert.ok(waits[0]! >= 9 && waits[1]! >= 19 && waits[2]! >= 39, String(waits))
  })

  it('calls back after the time that a reconcile asked for', async () => {
    let count = 0
    const queue = new WorkQueue(() => Promise.resolve(++count === 1 ? {requeueAfter: 5} : DONE))
    queue.add('a')
    await until(() => count === 2)
    await queue.close()
  })

  it('waits for what runs when it is closed, and takes nothing more', async () => {
    let finished = false
    const queue = new WorkQueue(async () => {
      await sleep(20)
      finished = true
      return DONE
    })
    queue.add('a')
    queue.add('b')
    await queue.close()
    assert.equal(finished, true)
    queue.add('c')
    await sleep(5)
  })
})
