import assert from 'node:assert/strict'
import fc from 'fast-check'

import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
} from '../../../src/server/validation/quantity.ts'

const canonical: [given: string | number, written: string][] = [
  ['0', '0'],
  ['1', '1'],
  [2, '2'],
  ['0.5', '500m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['1000', '1k'],
  ['100k', '100k'],
  ['1024', '1024'],
  ['1024Ki', '1Mi'],
  ['1536Mi', '1536Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['1e3', '1e3'],
  ['100e-3', '100e-3'],
  ['5G', '5G'],
  ['-1Gi', '-1Gi'],
  ['.5', '500m'],
  ['1n', '1n'],
  ['0.0000000001', '1n'],
]

describe('quantities', () => {
  for (const [given, written] of canonical) {
    it(`writes ${given} as ${written}`, () => {
      assert.equal(canonicalQuantity(given), written)
    })
  }

  for (const text of ['', 'x', '1 Gi', '1gi', '--1', '1e9999', '.']) {
    it(`reads nothing in ${JSON.stringify(text)}`, () => {
      assert.equal(parseQuantity(text), undefined)
    })
  }

  it('reads nothing in digits without end', () => {
    for (const text of ['1'.repeat(65), `${'1'.repeat(3_000_000)}x`, `.${'0'.repeat(200_000)}1`])
      assert.equal(parseQuantity(text), undefined)
  })

  it('compares across suffixes', () => {
    assert.equal(compareQuantities('1Gi', '1G'), 1)
    assert.equal(compareQuantities('1000m', '1'), 0)
    assert.equal(compareQuantities('99m', '0.1'), -1)
  })

  it('keeps the amount when it is written, and writes it the same way twice', () => {
    const suffix = fc.constantFrom('', 'm', 'u', 'n', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi')
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(999), suffix, (whole, part, unit) => {
        const text = `${whole}.${String(part).padStart(3, '0')}${unit}`
        const once = canonicalQuantity(text)
        assert.equal(compareQuantities(once, text), 0)
        assert.equal(canonicalQuantity(once), once)
      }),
    )
  })
})
