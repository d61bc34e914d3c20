import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {generateKeys, KEY_ALGORITHMS} from '../../src/pki/keys.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {parseRequest, verifyRequest} from '../../src/pki/request.ts'

const SUBJECT = {commonName: 'system:node:one', organizations: ['system:nodes']}

describe('a request with a subject and nothing else', () => {
  for (const algorithm of KEY_ALGORITHMS.filter((one) => one !== 'RSA-4096')) {
    it(`is read by us and by openssl, with ${algorithm}`, async () => {
      const keys = await generateKeys(algorithm)
      const pem = await createPlainRequest(SUBJECT, keys)
      const request = parseRequest(pem)
      await verifyRequest(request)
      assert.equal(request.subject.commonName, SUBJECT.commonName)
      assert.deepEqual(request.subject.organizations, SUBJECT.organizations)
      assert.deepEqual(request.requestedExtensions, [])
      const text = execFileSync('openssl', ['req', '-verify', '-noout', '-subject'], {
        input: pem,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      assert.match(text, /O ?= ?system:nodes, CN ?= ?system:node:one/)
    })
  }

  it('has room for a long name', async () => {
    const commonName = `system:node:${'a'.repeat(240)}`
    const request = await createPlainRequest({commonName}, await generateKeys())
    assert.equal(parseRequest(request).subject.commonName, commonName)
  })
})
