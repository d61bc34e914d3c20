import assert from 'node:assert/strict'
import {RevocationList} from '../../src/trust/revocation-list.ts'
import {keyRevocation, revocationsOf, serialRevocation} from '../../src/trust/revocations.ts'

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
