import assert from 'node:assert/strict'
import {parseTimestamp} from '../../src/bootstrap/timestamp.ts'
import {formatTimestamp} from '../../src/runtime.ts'

describe('timestamps', () => {
  for (const [text, utc] of [
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z'],
    ['2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00Z'],
    ['2026-03-01T12:00:00.75Z', '2026-03-01T12:00:00Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59Z'],
  ] as const) {
    it(`reads ${text}`, () => {
      const time = parseTimestamp(text)
      assert.equal(time && formatTimestamp(time), utc)
    })
  }

  for (const text of [
    '',
    'garbage',
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-03-01 12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '12026-03-01T12:00:00Z',
    '2026-03-01T12:00:00Z\n',
    '1772366400',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(parseTimestamp(text), undefined)
    })
  }
})
