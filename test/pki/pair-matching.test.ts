import assert from 'node:assert/strict'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {isMatching} from '../../src/pki/pair-store.ts'

const HOUR = 3_600_000

async function newPair() {
  const keys = await generateKeys('ECDSA-P256')
  const validity = authorityValidity(new Date(), HOUR)
  const certificatePem = await createAuthorityCertificate({commonName: 'ca'}, keys, validity)
  return {certificatePem, keyPem: privateKeyPem(keys.privateKey)}
}

describe('isMatching', () => {
  it('tells pairs from halves of two pairs, however often it is asked', async () => {
    const one = await newPair()
    const other = await newPair()
    for (let time = 0; time < 2; time++) {
      assert.ok(isMatching(one))
      assert.ok(isMatching(other))
      assert.ok(!isMatching({...one, keyPem: other.keyPem}))
      assert.ok(!isMatching({...other, certificatePem: one.certificatePem}))
      assert.ok(!isMatching({...one, keyPem: 'nothing'}))
      assert.ok(!isMatching({certificatePem: one.certificatePem}))
    }
  })
})
