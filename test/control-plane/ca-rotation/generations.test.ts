import assert from 'node:assert/strict'
import {describeHeld} from '../../../src/control-plane/ca-rotation/generations.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {createIssuer, issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {NOW, validAround} from '../../pki/support.ts'

describe('a generation of a CA', () => {
  it('has the key id that its certificates name, even if its own certificate does not', async () => {
    const [keys, leafKeys] = [await generateKeys(), await generateKeys()]
    const validity = validAround(NOW)
    const pem = await createAuthorityCertificate({commonName: 'old'}, keys, validity)
    const {subjectKeyId, ...certificate} = parseCertificate(pem)
    assert.ok(subjectKeyId)
    const leaf = await issueLeaf(createIssuer(certificate, keys.privateKey), {
      subject: {commonName: 'one'},
      names: {dns: [], ips: [], emails: [], uris: []},
      publicKey: leafKeys.publicKey,
      usages: ['client auth'],
      validity,
    })
    const {keyId} = describeHeld({certificate, bundle: [certificate]})
    assert.ok(keyId)
    assert.equal(keyId, parseCertificate(leaf).authorityKeyId)
  })
})
