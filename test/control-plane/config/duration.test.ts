import assert from 'node:assert/strict'
import fc from 'fast-check'
import {formatDuration, parseDuration} from '../../../src/control-plane/config/duration.ts'

describe('parseDuration', () => {
  const cases: [string, number][] = [
    ['8760h', 8760 * 3_600_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['90s', 90_000],
  ]
  for (const [text, milliseconds] of cases) {
    it(`reads ${text}`, () => assert.equal(parseDuration(text, 'x'), milliseconds))
  }

  for (const text of ['', '1', 'h', '1 h', '-1h', '1d', '1h ']) {
    it(`refuses "${text}"`, () => assert.throws(() => parseDuration(text, 'x'), {code: 'USAGE'}))
  }

  it('reads what is written, for every whole number of seconds', () => {
    fc.assert(
      fc.property(fc.nat(1e9), (seconds) => {
        assert.equal(parseDuration(formatDuration(seconds * 1000), 'x'), seconds * 1000)
      }),
    )
  })
})
