import assert from 'node:assert/strict'
import {emptyRecord} from '../../../src/controllers/approval/node-record.ts'
import {
  isLater,
  lets,
  readGrant,
  withGrant,
  type RejoinGrant,
} from '../../../src/controllers/approval/rejoin-grant.ts'

const until = new Date('2026-01-01T13:00:00Z')
const BY_KEY: RejoinGrant = {until, to: {pin: 'sha256:aa'}}
const BY_REQUESTER: RejoinGrant = {until, to: {requester: 'system:bootstrap:abcdef', after: '9'}}
const asker = {pin: 'sha256:aa', requester: 'system:bootstrap:abcdef', revision: '10'}

describe('a grant of a re-join', () => {
  for (const grant of [BY_KEY, BY_REQUESTER]) {
    it(`is read as it was written: ${Object.keys(grant.to).join(' and ')}`, () => {
      assert.deepEqual(readGrant(withGrant(emptyRecord('foo'), grant)), grant)
    })
  }

  it('takes the place of an earlier one as a whole', () => {
    const record = withGrant(withGrant(emptyRecord('foo'), BY_REQUESTER), BY_KEY)
    assert.deepEqual(readGrant(record), BY_KEY)
    assert.deepEqual(readGrant(withGrant(record, BY_REQUESTER)), BY_REQUESTER)
  })

  it('that names nobody, or whose end cannot be read, is none', () => {
    const record = (data: Record<string, string>) => ({metadata: {}, data})
    const rejoinUntil = '2099-01-01T00:00:00Z'
    assert.equal(readGrant(record({rejoinUntil})), undefined)
    assert.equal(readGrant(record({rejoinKey: 'sha256:aa', rejoinUntil: 'tomorrow'})), undefined)
    assert.equal(readGrant(record({rejoinRequester: 'someone', rejoinUntil})), undefined)
  })

  it('lets in its key alone, whoever asks with it and whenever', () => {
    assert.equal(lets(BY_KEY, {...asker, requester: 'anybody', revision: '1'}), true)
    assert.equal(lets(BY_KEY, {...asker, pin: 'sha256:bb'}), false)
  })

  it('lets in its requester alone, with what was asked for after it', () => {
    assert.equal(lets(BY_REQUESTER, {...asker, pin: 'sha256:bb'}), true)
    assert.equal(lets(BY_REQUESTER, {...asker, requester: 'system:bootstrap:ghijkl'}), false)
    assert.equal(lets(BY_REQUESTER, {...asker, revision: '9'}), false)
  })

  it('compares revisions as numbers, and takes nothing else for later', () => {
    assert.equal(isLater('10', '9'), true)
    assert.equal(isLater('9007199254740994', '9007199254740993'), true)
    for (const other of ['', 'x', '-1', '1e9', ' 10']) assert.equal(isLater(other, '9'), false)
    assert.equal(isLater('10', ''), false)
  })
})
