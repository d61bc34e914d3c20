import assert from 'node:assert/strict'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {untilAborted} from '../../src/client/cancellation.ts'

const forever = () => new Promise<never>(() => undefined)

describe('work until a signal', () => {
  it('ends with what the work returns', async () => {
    const {signal} = new AbortController()
    assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done')
  })

  it("ends with the signal's reason while the work goes on", async () => {
    const stop = new AbortController()
    const ended = untilAborted(forever(), stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(ended, /enough/)
  })

  it('ends at once for a signal that is aborted already', async () => {
    await assert.rejects(untilAborted(forever(), AbortSignal.abort(new Error('enough'))), /enough/)
  })

  it('leaves no failure behind of work that was begun too late', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    try {
      const work = nextTurn().then(() => Promise.reject(new Error('called off')))
      await assert.rejects(untilAborted(work, AbortSignal.abort(new Error('enough'))), /enough/)
      await nextTurn()
      await nextTurn()
      assert.deepEqual(unhandled, [])
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})
