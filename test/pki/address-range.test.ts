import assert from 'node:assert/strict'
import fc from 'fast-check'
import {parseAddressRange} from '../../src/pki/address-range.ts'

describe('parseAddressRange', () => {
  for (const [text, first] of [
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.200.7.9/16', '10.200.0.1'],
    ['192.0.2.128/30', '192.0.2.129'],
    ['fd00:10:96::/112', 'fd00:10:96:0:0:0:0:1'],
  ] as const) {
    it(`${text} begins with ${first}`, () => {
      const range = parseAddressRange(text)
      assert.equal(range?.contains(first), true)
      assert.equal(range.contains(range.first), true)
      assert.equal(range.first.replace(/(^|:)(0:)+/, '::'), first.replace(/(^|:)(0:)+/, '::'))
    })
  }

  for (const text of [
    '',
    '10.0.0.0',
    '10.0.0.0/31',
    '10.0.0.0/33',
    'x/8',
    '10.0.0.0/-1',
    '::/129',
  ]) {
    it(`"${text}" is no range`, () => assert.equal(parseAddressRange(text), undefined))
  }

  it('gives only addresses of its own, and never the first', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({min: 1, max: 30}), (address, prefix) => {
        const range = parseAddressRange(`${address}/${prefix}`)
        const one = range?.random() ?? ''
        return range?.contains(one) === true && one !== range.first
      }),
    )
  })

  it('holds neither its network nor its last address, nor those of another family', () => {
    const range = parseAddressRange('192.0.2.0/24')
    for (const address of ['192.0.2.0', '192.0.2.255', '192.0.3.1', '::c000:201', 'x'])
      assert.equal(range?.contains(address), false, address)
  })
})
