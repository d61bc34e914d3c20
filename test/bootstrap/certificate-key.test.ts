import assert from 'node:assert/strict'
import {
  formatCertificateKey,
  generateCertificateKey,
  openWith,
  parseCertificateKey,
  sealWith,
} from '../../src/bootstrap/certificate-key.ts'
import type {TrustError} from '../../src/errors.ts'

describe('a certificate key', () => {
  it('opens what another program has sealed with AES-256-GCM', () => {
    const key = parseCertificateKey(
      '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
    )
    const sealed = '000102030405060708090a0b2f67ba77aa2797ff353b8a046d28236dcd9d057bbb'
    assert.equal(openWith(key, Buffer.from(sealed, 'hex'))?.toString(), 'hello')
  })

  it('seals in the form of kubeadm: the nonce, the text, the tag', () => {
    const key = generateCertificateKey()
    const sealed = sealWith(key, Buffer.from('hello'))
    assert.equal(sealed.length, 12 + 5 + 16)
    assert.equal(openWith(key, sealed)?.toString(), 'hello')
    assert.notDeepEqual(sealWith(key, Buffer.from('hello')), sealed)
  })

  it('leaves nothing of nothing, as kubeadm for a file that is missing', () => {
    const key = generateCertificateKey()
    assert.equal(sealWith(key, Buffer.alloc(0)).length, 0)
    assert.equal(openWith(key, Buffer.alloc(0))?.length, 0)
  })

  it('opens nothing that another key has sealed, or that was changed or cut', () => {
    const key = generateCertificateKey()
    const sealed = sealWith(key, Buffer.from('hello'))
    assert.equal(openWith(generateCertificateKey(), sealed), undefined)
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8((changed[index] ?? 0) ^ 1, index)
      assert.equal(openWith(key, changed), undefined, `byte ${index}`)
      assert.equal(openWith(key, sealed.subarray(0, index || 1)), undefined, `cut at ${index}`)
    }
  })

  it('is read in either case, and never shown when it is wrong', () => {
    const key = generateCertificateKey()
    assert.deepEqual(parseCertificateKey(formatCertificateKey(key).toUpperCase()), key)
    const mistyped = `${formatCertificateKey(key).slice(0, 63)}x`
    assert.throws(
      () => parseCertificateKey(mistyped),
      (error: TrustError) =>
        error.code === 'USAGE' && !error.message.includes(mistyped.slice(0, 8)),
    )
  })
})
