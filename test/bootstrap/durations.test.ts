import assert from 'node:assert/strict'
import fc from 'fast-check'
import {formatDuration, parseDuration, parseSpan} from '../../src/bootstrap/durations.ts'

const READ: [string, number][] = [
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['24h0m0s', 86_400_000],
  ['0', 0],
  ['0s', 0],
  ['1.5s', 1500],
  ['.5h', 1_800_000],
  ['250ms', 250],
  ['2000us', 2],
  ['2000µs', 2],
  ['+1m', 60_000],
]

const PRINTED: [number, string][] = [
  [0, '0s'],
  [250, '250ms'],
  [1500, '1.5s'],
  [90_000, '1m30s'],
  [5_400_000, '1h30m0s'],
  [86_400_000, '24h0m0s'],
  [-60_000, '-1m0s'],
]

describe('durations', () => {
  for (const [text, milliseconds] of READ) {
    it(`reads ${text}`, () => {
      assert.equal(parseDuration(text, '--ttl'), milliseconds)
    })
  }

  for (const text of ['', '1', '-1h', '1d', 'h', '1h ', '1 h', '.s', '1e3s', '0x1h', '9000000h']) {
    it(`refuses "${text}", and names the setting`, () => {
      assert.throws(() => parseDuration(text, '--ttl'), {code: 'USAGE', message: /^--ttl is/})
    })
  }

  for (const [text, days] of [
    ['30d', 30],
    ['1d12h', 1.5],
    ['0d', 0],
    ['36h', 1.5],
    ['0', 0],
  ] as const) {
    it(`reads ${text} where days are known`, () => {
      assert.equal(parseSpan(text, '--within'), days * 86_400_000)
    })
  }

  for (const text of ['', 'd', '-1d', '1.5d', '12h1d', '1d 2h', '9999999d', 'soon']) {
    it(`refuses "${text}" where days are known`, () => {
      assert.throws(() => parseSpan(text, '--within'), {code: 'USAGE', message: /^--within is/})
    })
  }

  it('keeps what is shorter than a millisecond from meaning forever', () => {
    assert.equal(parseDuration('1ns', '--ttl'), 1)
  })

  for (const [milliseconds, text] of PRINTED) {
    it(`prints ${text}`, () => {
      assert.equal(formatDuration(milliseconds), text)
    })
  }

  it('come back from what is printed', () => {
    fc.assert(
      fc.property(fc.nat(1e12), (milliseconds) => {
        assert.equal(parseDuration(formatDuration(milliseconds), '--ttl'), milliseconds)
      }),
    )
  })
})
