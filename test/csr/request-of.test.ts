import assert from 'node:assert/strict'
import {requestOf, verifiedRequestOf, verifyAhead} from '../../src/csr/request-of.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {buildRequest} from '../pki/request-builder.ts'

const encoded = (text: string) => Buffer.from(text).toString('base64')

describe('the request of an object', () => {
  let good = ''
  let forged = ''
  before(async () => {
    const [keys, other] = await Promise.all([generateKeys(), generateKeys()])
    good = encoded(buildRequest(keys))
    const publicKeyInfo = other.publicKey.export({format: 'der', type: 'spki'})
    forged = encoded(buildRequest(keys, {publicKeyInfo}))
  })

  it('is read once, and again where it has become another', () => {
    const csr = {spec: {request: good}}
    const first = requestOf(csr)
    assert.ok('request' in first)
    csr.spec = {...csr.spec}
    assert.equal(requestOf(csr), first)
    csr.spec.request = forged
    assert.notEqual(requestOf(csr), first)
  })

  it('is verified ahead, or when it is asked for', async () => {
    const [ahead, late] = [{spec: {request: good}}, {spec: {request: good}}]
    await verifyAhead(ahead)
    assert.equal(verifiedRequestOf(ahead), requestOf(ahead))
    assert.ok('request' in verifiedRequestOf(late))
  })

  it('is not verified where another key signed it, though it can be read', async () => {
    const [ahead, late] = [{spec: {request: forged}}, {spec: {request: forged}}]
    await verifyAhead(ahead)
    for (const csr of [ahead, late]) {
      assert.ok('request' in requestOf(csr))
      const verdict = verifiedRequestOf(csr)
      assert.match('why' in verdict ? verdict.why : '', /signature/)
    }
  })

  it('is not verified by what was verified of another one', async () => {
    const csr = {spec: {request: good}}
    await verifyAhead(csr)
    csr.spec.request = forged
    assert.ok('why' in verifiedRequestOf(csr))
  })

  it('is said to be unreadable where it is, or is not there', async () => {
    for (const csr of [{}, {spec: {}}, {spec: {request: encoded('nonsense')}}]) {
      await verifyAhead(csr)
      const why = 'PEM block type must be CERTIFICATE REQUEST'
      assert.deepEqual(requestOf(csr), {why})
      assert.deepEqual(verifiedRequestOf(csr), {why})
    }
  })
})
