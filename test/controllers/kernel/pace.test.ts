import assert from 'node:assert/strict'
import {Pace, slices} from '../../../src/controllers/kernel/pace.ts'

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

describe('the pace', () => {
  it('is not held back by what has not happened yet', async () => {
    assert.ok((await timed(() => new Pace().wait(endless))) < 20)
  })

  it('rests longer than the work took', async () => {
    const pace = new Pace()
    const took = await timed(() => pace.measure(taking(40)))
    const rested = await timed(() => pace.wait(endless))
    assert.ok(rested > 2 * took, `${rested} after ${took}`)
  })

  it('rests after a failure too, and passes it on', async () => {
    const pace = new Pace()
    const failing = taking(40).then(() => Promise.reject(new Error('no')))
    await assert.rejects(pace.measure(failing), {message: 'no'})
    assert.ok((await timed(() => pace.wait(endless))) > 40)
  })

  it('ends a rest that is told to stop', async () => {
    const pace = new Pace()
    await pace.measure(taking(40))
    const stop = new AbortController()
    const resting = pace.wait(stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(resting, {message: 'enough'})
  })
})
