import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  expectedRecord,
  isAsExpected,
  withoutExpected,
} from '../../../src/controllers/approval/expected-record.ts'
import {
  emptyRecord,
  isHeld,
  isKeyOf,
  liveGrant,
  readRecord,
  recordIssued,
  recordName,
  reservedKey,
  withReservation,
} from '../../../src/controllers/approval/node-record.ts'
import {withGrant, withoutGrant} from '../../../src/controllers/approval/rejoin-grant.ts'
import {isNodeName} from '../../../src/csr/node-names.ts'

const at = (text: string) => new Date(`2026-01-${text}Z`)
const NOW = at('01T12:00:00.500')
const issued = (pin: string, notBefore: Date, notAfter: Date) => ({pin, notBefore, notAfter})
const GRANT = {until: at('01T13:00:00'), to: {pin: 'sha256:bb'}}
const ASKER = {pin: 'sha256:bb', requester: 'system:bootstrap:abcdef'}
const FIRST = issued('sha256:aa', at('01T11:55:00'), at('02T00:00:00'))

describe('node records', () => {
  it('are named after their node, or its hash where that makes no name of an object', () => {
    assert.equal(recordName('worker-1.example.com'), 'trustadm-node.worker-1.example.com')
    assert.match(recordName('UPPER'), /^trustadm-node-[0-9a-f]{32}$/)
    assert.match(recordName('a'.repeat(240)), /^trustadm-node-[0-9a-f]{32}$/)
    assert.equal(recordName('a'.repeat(239)).length, 253)
  })

  it('name the CA that signed the newest certificate', () => {
    const [one, other] = ['CN=kubernetes', 'CN=kubernetes-client-ca@1']
    const saved = recordIssued(emptyRecord('foo'), {...FIRST, issuer: one}, NOW)!
    assert.equal(readRecord(saved).issuer, one)
    const renewal = {...issued('sha256:bb', at('01T11:58:00'), at('02T06:00:00')), issuer: other}
    const renewed = recordIssued(saved, renewal, NOW)!
    assert.equal(readRecord(renewed).issuer, other)
    // An older one that is seen later changes nothing, and neither does the same one.
    assert.equal(recordIssued(renewed, {...FIRST, issuer: one}, NOW), undefined)
    assert.equal(recordIssued(renewed, renewal, NOW), undefined)
  })

  it('expect the CA that signs now, and are written again if another one has signed', () => {
    const lifetime = 12 * 3_600_000
    const expected = expectedRecord('foo', {...ASKER, issuer: 'CN=one'}, lifetime, NOW)
    const signed = {
      ...issued(ASKER.pin, at('01T11:55:00'), new Date(NOW.getTime() + lifetime)),
      requester: ASKER.requester,
    }
    assert.equal(isAsExpected(expected, {...signed, issuer: 'CN=one'}), true)
    assert.equal(isAsExpected(expected, {...signed, issuer: 'CN=other'}), false)
    assert.equal(readRecord(withoutExpected(expected, ASKER, NOW)).issuer, undefined)
  })

  it('are those of the newer key, also if it joins again minutes after the first', () => {
    const lifetime = 12 * 3_600_000
    const expected = expectedRecord('foo', {...ASKER, issuer: undefined}, lifetime, NOW)
    const soon = new Date(NOW.getTime() + 60_000)
    const again = issued('sha256:new', at('01T11:56:00'), new Date(soon.getTime() + lifetime))
    assert.equal(readRecord(recordIssued(expected, again, soon)!).holder, 'sha256:new')
  })

  it('have names that are right, and differ where the nodes do', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        assert.ok(isNodeName(recordName(one)))
        assert.equal(recordName(one) === recordName(other), one === other)
      }),
    )
  })

  it('say who holds the name and until when', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    assert.deepEqual(saved, {
      metadata: {
        namespace: 'trustadm-system',
        name: 'trustadm-node.foo',
        labels: {'trustadm.io/node-certificate': ''},
      },
      data: {
        node: 'foo',
        holder: 'sha256:aa',
        issuedAt: '2026-01-01T11:55:00Z',
        expiresAt: '2026-01-02T00:00:00Z',
      },
    })
    const record = readRecord(saved)
    assert.deepEqual(record.until, FIRST.notAfter)
    assert.equal(isHeld(record, NOW), true)
    assert.equal(isHeld(record, FIRST.notAfter), false)
  })

  it('are not written again for what they say', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    assert.equal(recordIssued(saved, FIRST, at('01T13:00:00')), undefined)
  })

  it('are not written for a certificate that has expired', () => {
    assert.equal(recordIssued(emptyRecord('foo'), FIRST, at('03T00:00:00')), undefined)
  })

  it('follow a renewal', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    const renewal = issued('sha256:bb', at('01T18:00:00'), at('02T06:00:00'))
    const record = readRecord(recordIssued(saved, renewal, at('01T18:05:00'))!)
    assert.equal(record.holder, 'sha256:bb')
    assert.deepEqual(record.until, renewal.notAfter)
  })

  it('keep the newest key, whatever older certificate is seen later', () => {
    const newest = issued('sha256:bb', at('01T11:58:00'), at('02T06:00:00'))
    const saved = recordIssued(emptyRecord('foo'), newest, NOW)!
    assert.equal(recordIssued(saved, FIRST, NOW), undefined)
  })

  it('hold a name until the last of its certificates expires', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    const shorter = issued('sha256:bb', at('01T11:59:00'), at('01T13:00:00'))
    const record = readRecord(recordIssued(saved, shorter, NOW)!)
    assert.equal(record.holder, 'sha256:bb')
    assert.deepEqual(record.until, FIRST.notAfter)
  })

  it('take a new holder once the old one’s certificate has expired', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    const next = issued('sha256:bb', at('03T00:00:00'), at('04T00:00:00'))
    const record = readRecord(recordIssued(saved, next, at('03T00:00:00'))!)
    assert.equal(record.holder, 'sha256:bb')
    assert.deepEqual(record.until, next.notAfter)
  })

  it('carry a grant until it is used, and lose nothing else by that', () => {
    const saved = recordIssued(emptyRecord('foo'), FIRST, NOW)!
    const granted = withGrant(saved, GRANT)
    assert.deepEqual(liveGrant(readRecord(granted), NOW), GRANT)
    assert.equal(liveGrant(readRecord(granted), GRANT.until), undefined)
    assert.deepEqual(withoutGrant(granted), saved)
  })

  it('keep the name for a key that is about to be approved, for a day, and use a grant up by that', () => {
    const granted = withGrant(recordIssued(emptyRecord('foo'), FIRST, NOW)!, GRANT)
    const record = readRecord(withReservation(granted, ASKER, NOW))
    assert.equal(record.grant, undefined)
    assert.equal(record.requester, ASKER.requester)
    assert.equal(reservedKey(record, at('02T12:30:00')), 'sha256:bb')
    assert.equal(reservedKey(record, at('02T13:30:00')), undefined)
    assert.equal(record.holder, FIRST.pin)
    assert.deepEqual(
      [isKeyOf(record, 'sha256:bb', NOW), isKeyOf(record, FIRST.pin, NOW)],
      [true, true],
    )
    assert.equal(isKeyOf(record, FIRST.pin, FIRST.notAfter), false)
  })

  it('keep it no longer once a certificate was issued, whoever it is for', () => {
    const saved = withReservation(recordIssued(emptyRecord('foo'), FIRST, NOW)!, ASKER, NOW)
    const settled = recordIssued(saved, FIRST, NOW)!
    assert.equal(readRecord(settled).reserved, undefined)
    assert.deepEqual(settled.data, {
      node: 'foo',
      requester: ASKER.requester,
      holder: FIRST.pin,
      issuedAt: '2026-01-01T11:55:00Z',
      expiresAt: '2026-01-02T00:00:00Z',
    })
  })

  it('keep a grant when a certificate is recorded', () => {
    const granted = withGrant(emptyRecord('foo'), GRANT)
    assert.deepEqual(readRecord(recordIssued(granted, FIRST, NOW)!).grant, GRANT)
  })

  it('whose times cannot be read hold the name', () => {
    const record = readRecord({metadata: {}, data: {holder: 'x', expiresAt: 'soon'}})
    assert.equal(isHeld(record, NOW), true)
  })

  it('remember who asked for the name, also through renewals by the node', () => {
    const saved = recordIssued(emptyRecord('foo'), {...FIRST, requester: ASKER.requester}, NOW)!
    const renewal = issued('sha256:bb', at('01T18:00:00'), at('02T06:00:00'))
    const record = readRecord(recordIssued(saved, renewal, at('01T18:05:00'))!)
    assert.equal(record.requester, ASKER.requester)
    // Signers backdate by five minutes.
    assert.deepEqual(record.givenAt, at('01T12:00:00'))
  })

  describe('when the name was given to somebody else', () => {
    const stolen = {
      ...issued('sha256:bb', at('01T18:00:00'), at('01T18:20:00')),
      requester: 'system:bootstrap:ghijkl',
    }
    const renewal = issued('sha256:cc', at('01T18:06:00'), at('02T06:00:00'))
    const LATER = at('01T18:12:00')
    const joined = recordIssued(emptyRecord('foo'), {...FIRST, requester: ASKER.requester}, NOW)!
    const become = (all: Parameters<typeof recordIssued>[1][], now: Date) =>
      all.reduce((object, one) => recordIssued(object, one, now) ?? object, joined)
    const said = {requester: stolen.requester, givenAt: at('01T18:05:00')}

    const orders: [string, Parameters<typeof recordIssued>[1][], Date][] = [
      ['and renewed since', [stolen, renewal], LATER],
      ['and renewed before that was seen', [renewal, stolen], LATER],
      ['for a certificate that has expired when it is seen', [renewal, stolen], at('01T19:00:00')],
      ['and to the first one earlier', [stolen, {...FIRST, requester: ASKER.requester}], LATER],
    ]
    for (const [what, all, now] of orders) {
      it(`say so: ${what}`, () => {
        const object = become(all, now)
        const {requester, givenAt} = readRecord(object)
        assert.deepEqual({requester, givenAt}, said)
        // Nothing is left to write when they are seen again.
        for (const one of all) assert.equal(recordIssued(object, one, now), undefined)
      })
    }

    it('say so though its only certificate had expired before it was seen, and hold no name', () => {
      const saved = recordIssued(emptyRecord('foo'), stolen, at('01T19:00:00'))!
      const record = readRecord(saved)
      assert.deepEqual({requester: record.requester, givenAt: record.givenAt}, said)
      assert.equal(isHeld(record, at('01T19:00:00')), false)
    })

    it('say nothing of a certificate that was only expected', () => {
      const expected = expectedRecord('foo', {...ASKER, issuer: undefined}, 3_600_000, NOW)
      assert.deepEqual(readRecord(expected).givenAt, at('01T12:00:00'))
      assert.equal(readRecord(withoutExpected(expected, ASKER, NOW)).givenAt, undefined)
    })
  })
})
