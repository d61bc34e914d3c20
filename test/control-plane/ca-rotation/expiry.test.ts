import assert from 'node:assert/strict'
import {isFinished, nextStep, stepsOf} from '../../../src/control-plane/ca-rotation/advance.ts'
import {
  isStuck,
  requireUsable,
  turnedBack,
  withExpiry,
} from '../../../src/control-plane/ca-rotation/expiry.ts'
import type {UnitRecord} from '../../../src/control-plane/ca-rotation/journal.ts'
import {ABORTING, STARTED} from './support.ts'

const BEFORE = new Date('2026-03-01T00:00:00Z')
const AFTER = new Date('2026-03-03T00:00:00Z')

describe('an old CA that expires during a rotation', () => {
  it('lets the start go on, with servers of the new CA', () => {
    assert.equal(withExpiry(STARTED, BEFORE), STARTED)
    const expired = withExpiry(STARTED, AFTER)
    assert.equal(isFinished(expired), false)
    assert.equal(nextStep(expired)?.id, 'sign-everything')
    // Once that is noticed, it is not begun again and again.
    assert.equal(withExpiry(expired, AFTER), expired)
  })

  it('renews the own clients at once if it is the CA of clients, unless that is done', () => {
    const [{old, new: next}] = STARTED.units as [UnitRecord]
    const units = [{id: 'client-ca', old, new: next}]
    const begun = {...STARTED, units, done: ['create', 'trust-both'], running: 'publish-both'}
    assert.deepEqual([withExpiry(begun, BEFORE), isStuck(begun)], [begun, false])
    const expired = withExpiry(begun, AFTER)
    assert.deepEqual(
      stepsOf(expired).map(({id}) => id),
      [
        'create',
        'sign-clients',
        'renew-clients',
        'servers-sign-clients',
        'publish-signers',
        'nodes',
      ],
    )
    assert.deepEqual([nextStep(expired)?.id, isStuck(expired)], ['sign-clients', true])
    assert.equal(withExpiry(expired, AFTER), expired)
    assert.equal(isStuck({...expired, done: ['create', 'sign-clients', 'renew-clients']}), false)
    const renewed = {...STARTED, units}
    assert.equal(withExpiry(renewed, AFTER), renewed)
  })

  it('creates no new CAs a second time, and those that are missing', () => {
    assert.deepEqual(withExpiry(STARTED, AFTER).done, ['create'])
    assert.deepEqual(withExpiry({...STARTED, done: []}, AFTER).done, [])
  })

  it('is no CA to go back to', () => {
    requireUsable(STARTED, BEFORE)
    assert.throws(() => requireUsable(STARTED, AFTER), {
      code: 'CONFLICT',
      message: /the old CA "ca" has expired/,
    })
    // Nobody uses new CAs that were never complete, or that are being removed.
    requireUsable({...STARTED, done: []}, AFTER)
    requireUsable({...ABORTING, running: 'remove-new'}, AFTER)
  })

  it('turns an abort into a start again, unless the new CAs are being removed', () => {
    assert.equal(turnedBack(ABORTING, BEFORE), ABORTING)
    const turned = turnedBack(ABORTING, AFTER)
    assert.deepEqual([turned.action, turned.done, turned.isExpired], ['start', ['create'], true])
    const removing = {...ABORTING, running: 'remove-new'}
    assert.equal(turnedBack(removing, AFTER), removing)
  })
  it('turns an abort into a start again whichever CA it is', () => {
    const [{old, new: next}] = STARTED.units as [UnitRecord]
    const later = {...old, notAfter: '2027-03-02T00:00:00.000Z'}
    const turned = (id: string) => {
      const units = [
        {id: 'ca', old: later, new: next},
        {id, old, new: next},
      ]
      const {action, isExpired, areClientsExpired} = turnedBack({...ABORTING, units}, AFTER)
      return {action, isExpired, areClientsExpired}
    }
    const usable = {action: 'start', isExpired: undefined, areClientsExpired: undefined}
    assert.deepEqual(turned('front-proxy-ca'), usable)
    assert.deepEqual(turned('client-ca'), {...usable, areClientsExpired: true})
  })
})
