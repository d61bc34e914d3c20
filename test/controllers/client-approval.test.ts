import assert from 'node:assert/strict'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {KeyedBackoff, KeyedQueue} from '../../src/controllers/client-approval.ts'

describe('KeyedQueue', () => {
  it('runs the work on one key in order, one after another, also after a failure', async () => {
    const queue = new KeyedQueue()
    const log: string[] = []
    const work = (name: string, fails = false) =>
      queue.run('key', async () => {
        log.push(`${name} begins`)
        await nextTurn()
        log.push(`${name} ends`)
        if (fails) throw new Error(name)
      })
    await Promise.allSettled([work('a'), work('b', true), work('c')])
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  it('runs the work on different keys side by side', async () => {
    const queue = new KeyedQueue()
    let release: () => void = () => undefined
    const held = queue.run('one', () => new Promise<void>((resolve) => (release = resolve)))
    assert.equal(await queue.run('other', () => Promise.resolve('done')), 'done')
    release()
    await held
  })
})

describe('KeyedBackoff', () => {
  it('waits twice as long each time, from 200 ms to 1000 s, and starts over once forgotten', () => {
    const backoff = new KeyedBackoff(1_000_000, () => 0)
    const waits = Array.from({length: 16}, () => backoff.next('key'))
    assert.deepEqual(waits.slice(0, 4), [200, 400, 800, 1600])
    assert.deepEqual(waits.slice(-2), [1_000_000, 1_000_000])
    assert.equal(backoff.next('other'), 200)
    backoff.forget('key')
    assert.equal(backoff.next('key'), 200)
  })

  it('does not let many that began together fall due together', () => {
    let next = 0
    const backoff = new KeyedBackoff(1_000_000, () => (next += 0.25) - 0.25)
    const waits = ['a', 'b', 'c', 'd'].map((key) => backoff.next(key))
    assert.deepEqual(waits, [200, 175, 150, 125])
    next = 0
    assert.equal(backoff.next('a'), 400)
  })
})
