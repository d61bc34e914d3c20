import assert from 'node:assert/strict'
import fc from 'fast-check'
import {BACKDATE, validityFor} from '../../src/pki/lifetimes.ts'
import {DAY, HOUR, NOW} from './support.ts'

const FAR = new Date(NOW.getTime() + 3650 * DAY)
const after = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)

describe('validityFor', () => {
  it('starts five minutes back', () => {
    assert.deepEqual(validityFor(NOW, DAY, FAR).notBefore, new Date('2026-03-01T11:55:00Z'))
  })

  it('gives short lifetimes in full from now', () => {
    assert.deepEqual(validityFor(NOW, 8 * HOUR - 1, FAR).notAfter, after(8 * HOUR - 1))
  })

  it('takes the five minutes off longer ones', () => {
    assert.deepEqual(validityFor(NOW, 8 * HOUR, FAR).notAfter, after(8 * HOUR - BACKDATE))
  })

  it('refuses to sign by a CA that has expired', () => {
    assert.throws(() => validityFor(FAR, DAY, FAR), {code: 'SIGNER_EXPIRED'})
  })

  it('never outlives the CA', () => {
    fc.assert(
      fc.property(fc.integer({min: 1, max: 1e12}), fc.integer({min: 1, max: 1e12}), (ttl, left) => {
        const {notAfter} = validityFor(NOW, ttl, after(left))
        assert.ok(notAfter <= after(left) && notAfter <= after(ttl))
      }),
    )
  })
})
