import assert from 'node:assert/strict'
import {
  encodeRevocation,
  keyRevocation,
  readRevocations,
  type Revocation,
  REVOCATION_NAMES,
  RevocationList,
  revocationsOf,
  revokedPin,
  serialRevocation,
  userRevocation,
} from '../../src/trust/revocations.ts'

const PIN = `sha256:${'ab'.repeat(32)}`
const KEY = keyRevocation(PIN)

describe('an entry for everything of a user', () => {
  const at = (time: string) => new Date(`2026-03-01T${time}Z`)
  const NODE = 'system:node:a'
  const list = (...revocations: Revocation[]) => {
    const made = new RevocationList()
    made.set('one', readRevocations(Object.fromEntries(revocations.map(encodeRevocation))))
    return made
  }

  it('revokes what the user had until that second, and nothing newer, nor of others', () => {
    const made = list({id: userRevocation(NODE, at('12:00:00'))})
    assert.ok(made.findUser(NODE, at('12:00:00')))
    assert.equal(made.findUser(NODE, at('12:00:01')), undefined)
    assert.equal(made.findUser('system:node:b', at('11:00:00')), undefined)
  })

  it('leaves the keys alone that it spares, of which an older entry may revoke some', () => {
    const spared = 'ab'.repeat(32)
    const newer = {id: userRevocation(NODE, at('12:00:00')), spared: `${'cd'.repeat(32)} ${spared}`}
    assert.equal(list(newer).findUser(NODE, at('11:00:00'), PIN), undefined)
    assert.ok(list(newer).findUser(NODE, at('11:00:00'), `sha256:${'ef'.repeat(32)}`))
    assert.ok(list(newer).findUser(NODE, at('11:00:00')))
    const older = {id: userRevocation(NODE, at('10:00:00'))}
    assert.ok(list(newer, older).findUser(NODE, at('10:00:00'), PIN))
  })

  it('is in force if its value cannot be read, and gone with its ConfigMap', () => {
    const made = new RevocationList()
    made.set('one', readRevocations({[userRevocation(NODE, at('12:00:00'))]: 'not JSON'}))
    assert.ok(made.findUser(NODE, at('11:00:00'), PIN))
    made.set('one', readRevocations({}))
    assert.equal(made.isEmpty, true)
  })

  it('is so short that the list has room for all nodes that one token can make in a day', () => {
    const [id, value] = encodeRevocation({
      id: userRevocation('system:node:worker-12345.example.com', at('12:00:00')),
      user: 'system:node:worker-12345.example.com',
      expires: '2027-01-01T00:00:00Z',
    })
    const bytes = JSON.stringify(id).length + JSON.stringify(value).length + 2
    assert.ok(bytes * 2500 * 24 < REVOCATION_NAMES.length * 1_000_000, `${bytes}`)
  })
})

describe('the entries of the list of revoked certificates', () => {
  it('are read back as they were written', () => {
    const revocations: Revocation[] = [
      {
        id: KEY,
        user: 'system:node:a',
        serial: '1f',
        fingerprint: 'cd'.repeat(32),
        request: 'csr-1',
        expires: '2027-01-01T00:00:00Z',
        revoked: '2026-01-01T00:00:00Z',
        by: 'ada',
        reason: 'stolen',
      },
      {id: serialRevocation('1f', 'CN=kubernetes')},
    ]
    assert.deepEqual(readRevocations(Object.fromEntries(revocations.map(encodeRevocation))), {
      revocations,
      unknown: [],
      unreadable: [],
    })
    assert.equal(revokedPin(KEY), PIN)
    assert.equal(revokedPin(serialRevocation('1f', 'CN=kubernetes')), undefined)
  })

  it('tell apart the same serial number of two issuers', () => {
    assert.notEqual(serialRevocation('1f', 'CN=a'), serialRevocation('1f', 'CN=b'))
  })

  it('are cut where a value is too long, so that an object has room for many', () => {
    const [, value] = encodeRevocation({id: KEY, reason: 'x'.repeat(10_000)})
    assert.ok(value.length < 300)
  })

  for (const value of [
    'not JSON',
    'null',
    '[]',
    '"text"',
    '{"user": 1}',
    '{"expires": "soon"}',
    '{"expires": "2027-01-01T00:00:00Z", "revoked": "?"}',
  ]) {
    it(`are in force, without an end, if their details are ${value}`, () => {
      assert.deepEqual(readRevocations({[KEY]: value}), {
        revocations: [{id: KEY}],
        unknown: [],
        unreadable: [KEY],
      })
    })
  }

  it('may have details that a later version knows', () => {
    const {revocations, unreadable} = readRevocations({[KEY]: '{"user":"a","color":["red"]}'})
    assert.deepEqual([revocations, unreadable], [[{id: KEY, user: 'a'}], []])
  })

  for (const id of [
    'key.ab',
    `key.${'AB'.repeat(32)}`,
    `${KEY}0`,
    'serial.1f',
    `serial.${'0'.repeat(65)}.${'ab'.repeat(32)}`,
    'ca.crt',
    '__proto__',
  ]) {
    it(`revoke nothing as "${id}", and leave the others in force`, () => {
      const data = JSON.parse(`{"${id}":"{}","${KEY}":"{}"}`) as Record<string, string>
      assert.deepEqual(readRevocations(data), {
        revocations: [{id: KEY}],
        unknown: [id],
        unreadable: [],
      })
    })
  }

  it('are in ConfigMaps with fixed names', () => {
    assert.equal(REVOCATION_NAMES[0], 'trustadm-revoked-certificates')
    assert.equal(REVOCATION_NAMES.at(-1), 'trustadm-revoked-certificates-16')
  })
})

const pin = (letter: string) => `sha256:${letter.repeat(64)}`
const certificate = {pin: pin('a'), serial: '1f', issuer: 'CN=kubernetes'}
const ids = revocationsOf(certificate)

describe('RevocationList', () => {
  const list = () => new RevocationList()

  it('finds a certificate by its key or by its serial number', () => {
    for (const id of [keyRevocation(pin('a')), serialRevocation('1f', 'CN=kubernetes')]) {
      const revoked = list()
      assert.equal(revoked.find(ids), undefined)
      revoked.set('one', {revocations: [{id, reason: 'stolen'}]})
      assert.deepEqual(revoked.find(ids), {id, reason: 'stolen'})
    }
  })

  it('does not find one of another key and another issuer', () => {
    const revoked = list()
    const id = serialRevocation('1f', 'CN=another')
    revoked.set('one', {revocations: [{id}, {id: keyRevocation(pin('b'))}]})
    assert.equal(revoked.find(ids), undefined)
  })

  it('finds the certificate that a request was made with', () => {
    const revoked = list()
    const revocation = {id: keyRevocation(pin('a')), fingerprint: 'cd'}
    revoked.set('one', {revocations: [revocation]})
    assert.equal(revoked.findFingerprint('cd'), revocation)
    assert.equal(revoked.findFingerprint('ef'), undefined)
    assert.equal(revoked.findKey(pin('a')), revocation)
  })

  it('says whether anything more is revoked', () => {
    const revoked = list()
    const [a, b] = [{id: keyRevocation(pin('a'))}, {id: keyRevocation(pin('b'))}]
    assert.equal(revoked.set('one', {revocations: [a]}), true)
    assert.equal(revoked.set('one', {revocations: [{...a, reason: 'other'}]}), false)
    assert.equal(revoked.set('one', {revocations: [b]}), true)
    assert.equal(revoked.set('one', {revocations: []}), false)
  })

  it('forgets an object without forgetting another that says the same', () => {
    const revoked = list()
    const revocations = [{id: keyRevocation(pin('a'))}]
    revoked.set('one', {revocations})
    revoked.set('two', {revocations})
    revoked.delete('one')
    assert.ok(revoked.find(ids))
    revoked.set('two', {revocations: []})
    assert.equal(revoked.find(ids), undefined)
  })
})
