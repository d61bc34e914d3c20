import assert from 'node:assert/strict'
import {watchSeconds} from '../../../src/server/registry/watch.ts'

describe('watchSeconds', () => {
  it('ends watches after half an hour to an hour, spread so that not all end together', () => {
    const drawn = [0, 0.25, 0.5, 0.75].map((random) => watchSeconds(undefined, () => random))
    assert.deepEqual(drawn, [1800, 2250, 2700, 3150])
    assert.equal(
      watchSeconds(0, () => 0.5),
      2700,
    )
  })

  it('honours a shorter time that the caller asks for', () => {
    assert.equal(
      watchSeconds(300, () => 0.5),
      300,
    )
  })

  it('gives nobody a watch forever, whatever is asked for', () => {
    const asked = [1801, 86_400, Number.MAX_SAFE_INTEGER]
    assert.deepEqual(
      asked.map((seconds) => watchSeconds(seconds, () => 0)),
      [1800, 1800, 1800],
    )
  })
})
