import assert from 'node:assert/strict'
import {normalizeMicroTime, normalizeTime} from '../../../src/server/codec/go-time.ts'

describe('times', () => {
  it('become UTC with whole seconds', () => {
    assert.equal(normalizeTime('2026-01-02T03:04:05Z'), '2026-01-02T03:04:05Z')
    assert.equal(normalizeTime('2026-01-02T03:04:05.999Z'), '2026-01-02T03:04:05Z')
    assert.equal(normalizeTime('2026-01-02T03:04:05+02:00'), '2026-01-02T01:04:05Z')
  })

  it('keep six digits where they are micro times', () => {
    assert.equal(normalizeMicroTime('2026-01-02T03:04:05.123456Z'), '2026-01-02T03:04:05.123456Z')
    assert.equal(
      normalizeMicroTime('2026-01-02T03:04:05.000001-01:00'),
      '2026-01-02T04:04:05.000001Z',
    )
  })

  const layout = '2006-01-02T15:04:05Z07:00'
  const refusals: [text: string, says: string][] = [
    ['soon', `parsing time "soon" as "${layout}": cannot parse "soon" as "2006"`],
    ['', `parsing time "" as "${layout}": cannot parse "" as "2006"`],
    ['2026-01-02', `parsing time "2026-01-02" as "${layout}": cannot parse "" as "T"`],
    [
      '2026-01-02 03:04:05Z',
      `parsing time "2026-01-02 03:04:05Z" as "${layout}": cannot parse " 03:04:05Z" as "T"`,
    ],
    [
      '2026-01-02T03:04:05',
      `parsing time "2026-01-02T03:04:05" as "${layout}": cannot parse "" as "Z07:00"`,
    ],
    ['2026-13-02T03:04:05Z', 'parsing time "2026-13-02T03:04:05Z": month out of range'],
    ['2026-02-30T03:04:05Z', 'parsing time "2026-02-30T03:04:05Z": day out of range'],
    ['2026-01-02T25:04:05Z', 'parsing time "2026-01-02T25:04:05Z": hour out of range'],
    ['2026-01-02T03:04:05Zx', 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"'],
  ]
  for (const [text, says] of refusals) {
    it(`are refused in Go’s words when they are ${JSON.stringify(text)}`, () => {
      assert.throws(() => normalizeTime(text), {name: 'MalformedError', message: says})
    })
  }

  it('are refused as micro times without their six digits', () => {
    assert.throws(() => normalizeMicroTime('2026-01-02T03:04:05Z'), {
      message:
        'parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    })
  })

  it('are refused with an offset that no place has', () => {
    assert.throws(() => normalizeTime('2026-01-02T03:04:05+99:00'), {name: 'MalformedError'})
  })
})
