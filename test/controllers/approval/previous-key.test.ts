import assert from 'node:assert/strict'
import type {ConfigMap} from '../../../src/api/core.ts'
import {type Node, TRUST_REPORT} from '../../../src/api/node.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
  withNewestInUse,
  withReservation,
  type IssuedIdentity,
} from '../../../src/controllers/approval/node-record.ts'
import {showsNewestInUse, type RenewedWith} from '../../../src/controllers/approval/previous-key.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-01-01T12:00:00Z')
const at = (hours: number) => new Date(START + hours * HOUR)
const byKey = (pin: string): RenewedWith => ({pin, credential: undefined})
const byCertificate = (credential: string): RenewedWith => ({pin: undefined, credential})

/** What is issued so many hours after the start is valid for ten. */
const issued = (pin: string, hours: number, renewedWith?: RenewedWith): IssuedIdentity => ({
  pin,
  notBefore: at(hours),
  notAfter: at(hours + 10),
  ...(renewedWith ? {renewedWith} : {requester: 'system:bootstrap:abcdef'}),
})

const recorded = (...certificates: IssuedIdentity[]): ConfigMap =>
  certificates.reduce(
    (object, one) => recordIssued(object, one, one.notBefore) ?? object,
    emptyRecord('foo'),
  )
const previousIn = (object: ConfigMap) => readRecord(object).previous

describe('the key before the newest certificate', () => {
  it('is none after a join', () => {
    assert.equal(previousIn(recorded(issued('a', 0))), undefined)
  })

  it('is the one that the node renewed with', () => {
    const record = readRecord(recorded(issued('a', 0), issued('b', 7, byKey('a'))))
    assert.equal(record.holder, 'b')
    const known = {pin: 'a', issuedAt: at(0), until: at(10), credential: undefined}
    assert.deepEqual(record.previous, known)
  })

  it('stays the one that was in use, however many renewals in a row are lost', () => {
    const lost = ['b', 'c', 'd', 'e'].map((pin, index) => issued(pin, 7 + index / 100, byKey('a')))
    const record = readRecord(recorded(issued('a', 0), ...lost))
    assert.equal(record.holder, 'e')
    assert.deepEqual(record.previous?.pin, 'a')
    assert.deepEqual(record.previous.until, at(10))
  })

  it('is another one once the node renews with what it got', () => {
    const renewals = [issued('b', 7, byKey('a')), issued('c', 14, byKey('b'))]
    assert.equal(previousIn(recorded(issued('a', 0), ...renewals))?.pin, 'b')
  })

  it('is known by the certificate where the server does not name the key', () => {
    const join = issued('a', 0)
    const lost = ['b', 'c', 'd'].map((pin, index) =>
      issued(pin, 7 + index / 100, byCertificate('X509SHA256=aa')),
    )
    assert.equal(previousIn(recorded(join, ...lost))?.pin, 'a')
    const next = issued('e', 14, byCertificate('X509SHA256=dd'))
    assert.equal(previousIn(recorded(join, ...lost, next))?.pin, 'd')
  })

  it('is none where the server says neither', () => {
    const nothing = {pin: undefined, credential: undefined}
    assert.equal(previousIn(recorded(issued('a', 0), issued('b', 7, nothing))), undefined)
  })

  it('is forgotten when somebody else gave the name away', () => {
    const object = recorded(issued('a', 0), issued('b', 7, byKey('a')), issued('c', 8))
    assert.equal(readRecord(object).holder, 'c')
    assert.equal(previousIn(object), undefined)
  })

  it('holds the name again once it got a certificate, and the lost key does not', () => {
    const object = recorded(issued('a', 0), issued('b', 7, byKey('a')), issued('a', 11))
    assert.equal(readRecord(object).holder, 'a')
    assert.equal(previousIn(object), undefined)
  })

  it('does not come back after the newest was seen in use, when its request is read again', () => {
    const renewal = issued('b', 7, byKey('a'))
    const used = withNewestInUse(recorded(issued('a', 0), renewal)) ?? assert.fail()
    assert.equal(previousIn(used), undefined)
    assert.equal(recordIssued(used, renewal, at(8)), undefined)
    assert.equal(withNewestInUse(used), undefined)
  })

  it('stays while the name is kept for a key, and is not written twice', () => {
    const renewal = issued('b', 7, byKey('a'))
    const object = recorded(issued('a', 0), renewal)
    assert.equal(recordIssued(object, renewal, at(8)), undefined)
    const asker = {pin: 'a', requester: 'system:bootstrap:abcdef'}
    assert.equal(previousIn(withReservation(object, asker, at(11)))?.pin, 'a')
  })
})

describe('a Node shows that the newest certificate is in use', () => {
  const record = readRecord(recorded(issued('a', 0), issued('b', 7, byKey('a'))))
  const node = (annotation: string | undefined, heartbeat?: Date): Node => ({
    metadata: {name: 'foo', annotations: annotation ? {[TRUST_REPORT]: annotation} : {}},
    status: {
      conditions: heartbeat
        ? [{type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat.toISOString()}]
        : [],
    },
  })
  const report = (notBefore: unknown) => JSON.stringify({client: {notBefore}})

  const rows: [string, Node | undefined, boolean][] = [
    ['if there is none', undefined, false],
    ['if it says nothing', node(undefined), false],
    ['if it reports the newest one', node(report('2026-01-01T19:00:00Z')), true],
    ['if it reports the one before', node(report('2026-01-01T12:00:00Z')), false],
    ['if it reports no time', node(report(7)), false],
    ['if it reports no object', node('null'), false],
    ['if its report is no JSON', node('{'), false],
    ['if its report is too long', node(' '.repeat(20_000) + report('2027-01-01T00:00:00Z')), false],
    ['if its kubelet was alive before the older ones expired', node(undefined, at(10)), false],
    ['if its kubelet was alive after that', node(undefined, at(10.1)), true],
  ]
  for (const [when, shown, is] of rows) {
    it(`${when}: ${is ? 'yes' : 'no'}`, () => {
      assert.equal(showsNewestInUse(shown, record), is)
    })
  }
})
