import assert from 'node:assert/strict'
import {lifetimeFor} from '../../src/csr/signers.ts'
import {validityFor} from '../../src/pki/lifetimes.ts'
import {DAY, HOUR, NOW} from '../pki/support.ts'

const MINUTE = 60_000
const HOURS = 3600

describe('the lifetime of what is signed', () => {
  for (const [asked, minutes] of [
    [30 * 60, 30],
    [3 * HOURS, 60],
    [-60, 10],
    [599, 10],
    [600, 10],
    [HOURS, 60],
    [undefined, 60],
  ] as const) {
    it(`is ${minutes} min for ${asked ?? 'no'} seconds asked of a signer of 1 h`, () => {
      assert.equal(lifetimeFor(asked, HOUR), minutes * MINUTE)
    })
  }

  for (const [asked, minutes] of [
    [undefined, 24 * 60],
    [24 * HOURS, 24 * 60],
    [48 * HOURS, 24 * 60],
    [20 * HOURS, 20 * 60],
    [10 * HOURS, 10 * 60],
    [2 * HOURS, 2 * 60 + 5],
    [30 * 60, 35],
    [600, 15],
  ] as const) {
    it(`spans ${minutes} min on the certificate for ${asked ?? 'no'} seconds asked of a signer of 24 h`, () => {
      const validity = validityFor(NOW, lifetimeFor(asked, DAY), new Date(NOW.getTime() + 9 * DAY))
      const span = validity.notAfter.getTime() - validity.notBefore.getTime()
      assert.equal(span, minutes * MINUTE)
      assert.equal(NOW.getTime() - validity.notBefore.getTime(), 5 * MINUTE)
    })
  }

  it('ends with the CA', () => {
    const end = new Date(NOW.getTime() + DAY)
    assert.deepEqual(validityFor(NOW, lifetimeFor(undefined, 2 * DAY), end).notAfter, end)
  })
})
