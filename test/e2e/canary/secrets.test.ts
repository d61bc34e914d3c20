import assert from 'node:assert/strict'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {keysIn, leaksIn, textSecret} from './secrets.ts'

describe('the search for secrets', () => {
  const secret = textSecret('the secret', 'w7q2z9x4v1m8k5r3')
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  const texts: [string, string][] = [
    ['as it is', 'token: kanari.w7q2z9x4v1m8k5r3'],
    ['in part', 'it begins with 9x4v1m8k5…'],
    ['in base64', base64('w7q2z9x4v1m8k5r3')],
    ['in the middle of base64', base64('kanari.w7q2z9x4v1m8k5r3\n')],
    ['at the end of base64', base64('kanari:w7q2z9x4v1m8k5r3')],
    ['in hex', Buffer.from('w7q2z9x4v1m8k5r3').toString('hex')],
  ]
  for (const [how, text] of texts) {
    it(`finds one ${how}`, () => assert.deepEqual(leaksIn(text, [secret]), ['the secret']))
  }

  it('finds none if there is none', () => {
    assert.deepEqual(leaksIn('token: kanari.<hidden>, w7q2z9, 0123456789abcdef', [secret]), [])
  })

  it('finds a private key in a kubeconfig and in a file, but not by its public half', async () => {
    const {privateKey, publicKey} = await generateKeys()
    const pem = privateKeyPem(privateKey)
    const kubeconfig = `    client-key-data: ${base64(pem)}\n`
    const [one] = keysIn('a file', pem)
    const [other] = keysIn('a kubeconfig', kubeconfig)
    assert.ok(one && other)
    assert.deepEqual(leaksIn(kubeconfig, [one]), ['the key of a file'])
    assert.deepEqual(leaksIn(pem.replaceAll('\n', ''), [other]), ['the key of a kubeconfig'])
    const certificate = publicKey.export({format: 'der', type: 'spki'}).toString('base64')
    assert.deepEqual(leaksIn(certificate, [one]), [])
  })
})
