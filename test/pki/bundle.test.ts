import assert from 'node:assert/strict'
import {encodeBundle, isSameBundle, parseBundle} from '../../src/pki/bundle.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {testAuthority} from './support.ts'

describe('bundles', () => {
  it('hold all certificates in order, each once, whatever stands between them', async () => {
    const [one, two] = [
      await testAuthority({commonName: 'one'}),
      await testAuthority({commonName: 'two'}),
    ]
    const text = `# old\n${one.pem}${privateKeyPem(one.keys.privateKey)}# new\n${two.pem}\n${one.pem}`
    const bundle = parseBundle(text)
    assert.deepEqual(
      bundle.map(({subject}) => subject.commonName),
      ['one', 'two'],
    )
    assert.equal(encodeBundle(bundle), one.pem + two.pem)
  })

  it('are the same in another order, and not with one more', async () => {
    const [one, two] = [await testAuthority(), await testAuthority()]
    assert.equal(isSameBundle(one.pem + two.pem, two.pem + one.pem), true)
    assert.equal(isSameBundle(one.pem, one.pem + two.pem), false)
  })

  it('are refused without a certificate', () => {
    assert.throws(() => parseBundle('nothing'), {code: 'CERTIFICATE_INVALID'})
  })

  it('are refused as a whole where one certificate is broken', async () => {
    const {pem} = await testAuthority()
    const broken = '-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n'
    assert.throws(() => parseBundle(pem + broken), {code: 'CERTIFICATE_INVALID'})
  })
})
