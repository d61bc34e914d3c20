import assert from 'node:assert/strict'

import {ageOf, humanDuration, shortHumanDuration} from '../../../src/server/table/human-duration.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

const durations = [
  [-2 * SECOND, '<invalid>'],
  [-1999, '0s'],
  [0, '0s'],
  [119 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [2 * MINUTE + SECOND, '2m1s'],
  [10 * MINUTE - SECOND, '9m59s'],
  [10 * MINUTE + SECOND, '10m'],
  [3 * HOUR - SECOND, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + 5 * MINUTE, '3h5m'],
  [8 * HOUR + 5 * MINUTE, '8h'],
  [48 * HOUR - SECOND, '47h'],
  [2 * DAY, '2d'],
  [2 * DAY + HOUR, '2d1h'],
  [8 * DAY + HOUR, '8d'],
  [2 * YEAR - HOUR, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + DAY, '2y1d'],
  [8 * YEAR + DAY, '8y'],
] as const

describe('the human duration', () => {
  for (const [milliseconds, text] of durations) {
    it(`of ${milliseconds} ms is ${text}`, () => assert.equal(humanDuration(milliseconds), text))
  }

  it('has one unit in its short form', () => {
    const short = [-2 * SECOND, 59 * SECOND, 59 * MINUTE, 23 * HOUR, 364 * DAY, 3 * YEAR]
    assert.deepEqual(short.map(shortHumanDuration), [
      '<invalid>',
      '59s',
      '59m',
      '23h',
      '364d',
      '3y',
    ])
  })
})

describe('an age', () => {
  const now = new Date('2026-01-01T00:01:00Z')

  it('is how long ago the timestamp was', () => {
    assert.equal(ageOf('2026-01-01T00:00:00Z', now), '60s')
  })

  it('is unknown without a timestamp', () => {
    assert.equal(ageOf(undefined, now), '<unknown>')
    assert.equal(ageOf(null, now), '<unknown>')
  })
})
