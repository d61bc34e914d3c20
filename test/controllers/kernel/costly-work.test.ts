import assert from 'node:assert/strict'
import {CostlyWork, slices} from '../../../src/controllers/kernel/costly-work.ts'
import {sleep} from '../../../src/runtime.ts'

const endless = new AbortController().signal

describe('slices', () => {
  it('let others run while long work goes on', async () => {
    let others = 0
    const counting = setInterval(() => others++, 1)
    const pause = slices(endless)
    // Far more steps than it takes, so that the test ends if nobody else gets to run.
    for (let steps = 0; others < 3 && steps < 100_000_000; steps++) await pause()
    clearInterval(counting)
    assert.equal(others, 3)
  })

  it('end long work that is told to stop', async () => {
    const stop = new AbortController()
    const pause = slices(stop.signal)
    stop.abort()
    const work = async () => {
      for (;;) await pause()
    }
    await assert.rejects(work())
  })
})

describe('costly work', () => {
  it('is not held back by what has not happened yet', async () => {
    // Only a rest ends by the signal.
    await new CostlyWork().rest(AbortSignal.abort())
  })

  /** Time that passes only while something sleeps or works. */
  class TestTime {
    elapsed = 0
    now = () => this.elapsed
    sleep = async (milliseconds: number) => {
      await Promise.resolve()
      this.elapsed += milliseconds
    }
  }

  for (const [took, rests] of [
    [40, 160],
    [10_000, 1000],
  ] as const) {
    it(`rests for ${rests} ms after work that took ${took}`, async () => {
      const time = new TestTime()
      const costly = new CostlyWork(time)
      await costly.run(time.sleep(took))
      await costly.rest(endless)
      assert.equal(time.elapsed, took + rests)
    })
  }

  it('rests after a failure too, and passes it on', async () => {
    const time = new TestTime()
    const costly = new CostlyWork(time)
    const failing = time.sleep(40).then(() => Promise.reject(new Error('no')))
    await assert.rejects(costly.run(failing), {message: 'no'})
    await costly.rest(endless)
    assert.equal(time.elapsed, 200)
  })

  it('ends a rest that is told to stop', async () => {
    let now = 0
    const costly = new CostlyWork({now: () => now, sleep})
    const work = costly.run(Promise.resolve())
    now = 1000
    await work
    const stop = new AbortController()
    const resting = costly.rest(stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(resting, {message: 'enough'})
  })
})
