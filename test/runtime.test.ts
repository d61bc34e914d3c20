import assert from 'node:assert/strict'
import {every} from '../src/runtime.ts'

describe('what is done again and again', () => {
  it('goes on after it has failed, and reports the same failure once', async () => {
    const reported: string[] = []
    let calls = 0
    await new Promise<void>((resolve) => {
      const stop = every(
        1,
        async () => {
          calls++
          if (calls < 4) throw new Error('no descriptor is left')
          if (calls < 6) return
          if (calls < 8) await Promise.reject(new Error('no descriptor is left'))
          stop()
          resolve()
        },
        (error) => reported.push(String(error)),
      )
      // The timer keeps no process alive.
      setTimeout(resolve, 10_000).unref()
    })
    assert.deepEqual(reported, ['Error: no descriptor is left', 'Error: no descriptor is left'])
    const ended = calls
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(calls, ended)
  })
})
