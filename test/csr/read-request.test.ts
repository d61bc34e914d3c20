import assert from 'node:assert/strict'
import {commonNameIn, parseSpecRequest} from '../../src/csr/read-request.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {encodePem} from '../../src/pki/pem.ts'
import {createPlainRequest} from '../../src/pki/plain-request.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')

describe('the common name that is asked for', () => {
  it('is the one that reading the whole request finds', async () => {
    for (const algorithm of ['ECDSA-P256', 'RSA-2048'] as const) {
      const keys = await generateKeys(algorithm)
      for (const commonName of ['system:node:a', 'Zoë', '']) {
        const pem = await createPlainRequest({commonName, organizations: ['o']}, keys)
        const verdict = parseSpecRequest(encode(pem))
        assert.ok('request' in verdict)
        assert.equal(commonNameIn(encode(pem)), verdict.request.subject.commonName)
      }
    }
  })

  it('is not there where nothing can be read', () => {
    const texts = ['', 'no PEM', encodePem('CERTIFICATE REQUEST', Buffer.from('no DER'))]
    for (const text of texts) assert.equal(commonNameIn(encode(text)), undefined)
    assert.equal(commonNameIn(undefined), undefined)
  })
})

describe('reading a request again', () => {
  it('is spared for those that are short, and nothing is kept of long ones', async () => {
    const pem = await createPlainRequest({commonName: 'a'}, await generateKeys('ECDSA-P256'))
    const [short, long] = [encode(pem), encode(`${'text\n'.repeat(10_000)}${pem}`)]
    const requestIn = (encoded: string) => {
      const verdict = parseSpecRequest(encoded)
      assert.ok('request' in verdict)
      return verdict.request
    }
    assert.equal(requestIn(short), requestIn(short))
    assert.notEqual(requestIn(long), requestIn(long))
  })
})
