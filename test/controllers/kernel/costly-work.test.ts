import assert from 'node:assert/strict'
import {CostlyWork, slices} from '../../../src/controllers/kernel/costly-work.ts'

const endless = new AbortController().signal

const timed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const taking = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

describe('slices', () => {
  it('let others run while long work goes on', async () => {
    let others = 0
    const counting = setInterval(() => others++, 1)
    const pause = slices(endless)
    const end = performance.now() + 100
    while (performance.now() < end) await pause()
    clearInterval(counting)
    assert.ok(others > 2, `${others} turns`)
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

  it('rests longer than the work took', async () => {
    const costly = new CostlyWork()
    const took = await timed(() => costly.run(taking(40)))
    const rested = await timed(() => costly.rest(endless))
    assert.ok(rested > 2 * took, `${rested} after ${took}`)
  })

  it('rests after a failure too, and passes it on', async () => {
    const costly = new CostlyWork()
    const failing = taking(40).then(() => Promise.reject(new Error('no')))
    await assert.rejects(costly.run(failing), {message: 'no'})
    assert.ok((await timed(() => costly.rest(endless))) > 40)
  })

  it('ends a rest that is told to stop', async () => {
    const costly = new CostlyWork()
    await costly.run(taking(40))
    const stop = new AbortController()
    const resting = costly.rest(stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(resting, {message: 'enough'})
  })
})
