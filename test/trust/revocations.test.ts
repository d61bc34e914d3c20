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
} from '../../src/trust/revocations.ts'

const PIN = `sha256:${'ab'.repeat(32)}`
const KEY = keyRevocation(PIN)

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
    assert.equal(REVOCATION_NAMES.at(-1), 'trustadm-revoked-certificates-8')
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
