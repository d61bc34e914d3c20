import assert from 'node:assert/strict'
import {Waits} from '../../../soak/honest/waits.ts'

describe('what honest clients wait for', () => {
  it('counts a request that the end of the run cuts off, but not as refused', async () => {
    const waits = new Waits()
    const stop = new AbortController()
    const timed = waits.time('get', stop.signal, () => new Promise(() => undefined))
    stop.abort()
    assert.equal(await timed, undefined)
    const [summary] = waits.summaries
    assert.equal(summary?.requests, 1)
    assert.equal(summary?.refused, 0)
  })

  it('begins no request after the end of the run', async () => {
    const waits = new Waits()
    await waits.time('get', AbortSignal.abort(), () => assert.fail('it was begun'))
    assert.deepEqual(waits.summaries, [])
  })
})
