import assert from 'node:assert/strict'
import {
  requireCurrentAuthorities,
  requireCurrentServer,
  span,
} from '../../src/discovery/validity.ts'

const at = (text: string) => new Date(`2026-03-${text}Z`)
const valid = {notBefore: at('10T00:00:00'), notAfter: at('20T00:00:00')}
const later = {notBefore: at('19T00:00:00'), notAfter: at('30T00:00:00')}

describe('the validity of CAs', () => {
  it('is enough where one of the bundle is current, be the others over or to come', () => {
    const now = at('15T00:00:00')
    requireCurrentAuthorities([{...valid, notAfter: at('11T00:00:00')}, valid, later], {now})
  })

  it('is no matter where there are none', () => {
    requireCurrentAuthorities([], {now: at('15T00:00:00')})
  })

  it('says for how long the last of them has been over', () => {
    assert.throws(() => requireCurrentAuthorities([later, valid], {now: at('31T01:00:00')}), {
      code: 'CA_EXPIRED',
      message: "the cluster's CA expired 1 day ago, at 2026-03-30T00:00:00.000Z",
    })
  })

  it("stays expired where the server's clock says so too", () => {
    const times = {now: at('22T00:00:00'), serverTime: at('22T00:00:05')}
    assert.throws(() => requireCurrentAuthorities([valid], times), {code: 'CA_EXPIRED'})
  })

  it('says by how much the clock is behind', () => {
    assert.throws(() => requireCurrentAuthorities([valid], {now: at('09T21:00:00')}), {
      code: 'CLOCK_SKEWED',
      message: /clock of this machine is at least 3 hours behind: .* from 2026-03-10T00:00:00/,
    })
  })

  it("says by how much the clock is ahead of the server's, by which the CA is good", () => {
    const times = {now: at('22T00:00:00'), serverTime: at('19T00:00:00')}
    assert.throws(() => requireCurrentAuthorities([valid], times), {
      code: 'CLOCK_SKEWED',
      message: /3 days ahead of the server's/,
    })
  })
})

describe("the validity of a server's certificate", () => {
  it('holds from its first instant to its last', () => {
    for (const now of [valid.notBefore, valid.notAfter]) requireCurrentServer(valid, 's', {now})
  })

  it('is refused when it is over, and when it is to come', () => {
    assert.throws(() => requireCurrentServer(valid, 's', {now: at('20T00:00:30')}), {
      code: 'SERVER_CERTIFICATE_EXPIRED',
      message: /the certificate of s expired 30 seconds ago/,
    })
    assert.throws(() => requireCurrentServer(valid, 's', {now: at('09T23:59:00')}), {
      code: 'CLOCK_SKEWED',
    })
  })
})

describe('span', () => {
  it('is rounded down, in one unit', () => {
    const spans = [999, 1000, 59_999, 60_000, 7_199_999, 86_400_000, 400 * 86_400_000].map(span)
    assert.deepEqual(spans, [
      '0 seconds',
      '1 second',
      '59 seconds',
      '1 minute',
      '1 hour',
      '1 day',
      '400 days',
    ])
  })
})
