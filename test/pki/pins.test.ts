import assert from 'node:assert/strict'
import {createHash, createPublicKey} from 'node:crypto'
import {isPinned, parsePin, parsePins, pinOf} from '../../src/pki/pins.ts'
import {testAuthority} from './support.ts'

describe('pins', () => {
  it('are the SHA-256 of the public key that openssl shows', async () => {
    const {pem, certificate} = await testAuthority()
    const spki = createPublicKey(pem).export({format: 'der', type: 'spki'})
    assert.equal(pinOf(certificate), `sha256:${createHash('sha256').update(spki).digest('hex')}`)
  })

  it('match their own certificate and no other, in any case of letters', async () => {
    const [one, other] = [await testAuthority(), await testAuthority()]
    const pins = parsePins([pinOf(one.certificate).toUpperCase()])
    assert.equal(isPinned(one.certificate, pins), true)
    assert.equal(isPinned(other.certificate, pins), false)
  })

  for (const text of [
    '',
    'sha256:',
    'sha256:abc',
    `sha1:${'a'.repeat(64)}`,
    `sha256:${'g'.repeat(64)}`,
    'a'.repeat(64),
  ]) {
    it(`refuses "${text}"`, () => {
      assert.throws(() => parsePin(text), {code: 'USAGE'})
    })
  }
})
