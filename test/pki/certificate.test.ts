import assert from 'node:assert/strict'
import {X509Certificate} from 'node:crypto'
import fc from 'fast-check'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate, parseCertificateDer} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {namesOfHosts} from '../../src/pki/subject-names.ts'
import {NOW, testAuthority, testLeaf, validAround} from './support.ts'

describe('certificates', () => {
  it('of a CA say so, and name their key', async () => {
    const {certificate, pem} = await testAuthority({commonName: 'kubernetes'})
    assert.equal(certificate.isAuthority, true)
    assert.equal(certificate.pathLength, undefined)
    assert.deepEqual(certificate.keyUsages, ['digital signature', 'cert sign', 'crl sign'])
    assert.equal(certificate.subject.commonName, 'kubernetes')
    assert.deepEqual(certificate.subject.der, certificate.issuer.der)
    assert.match(certificate.subjectKeyId ?? '', /^[0-9a-f]{40}$/)
    assert.equal(new X509Certificate(pem).ca, true)
  })

  it('read as Node reads them', async () => {
    const {certificate: ca, issuer} = await testAuthority()
    const names = namesOfHosts(['a.example.com', '192.0.2.1', '2001:db8::1'])
    const {pem, certificate} = await testLeaf(issuer, {
      names,
      usages: ['server auth', 'client auth'],
    })
    const node = new X509Certificate(pem)
    assert.equal(certificate.fingerprint, node.fingerprint256.replaceAll(':', '').toLowerCase())
    assert.equal(certificate.serial, node.serialNumber.toLowerCase().replace(/^0+/, ''))
    assert.deepEqual(certificate.notAfter, new Date(node.validTo))
    assert.deepEqual(certificate.publicKeyDer, node.publicKey.export({format: 'der', type: 'spki'}))
    assert.deepEqual(certificate.extendedKeyUsages, ['server auth', 'client auth'])
    assert.equal(certificate.isAuthority, false)
    assert.equal(certificate.authorityKeyId, ca.subjectKeyId)
    assert.deepEqual(certificate.names, names)
    for (const address of names.ips) assert.equal(node.checkIP(address), address)
  })

  it('have serial numbers that are positive, long and never the same', async () => {
    const {issuer, certificate} = await testAuthority()
    const leaves = await Promise.all(Array.from({length: 64}, () => testLeaf(issuer)))
    const serials = [certificate, ...leaves.map((leaf) => leaf.certificate)].map(
      ({serial}) => serial,
    )
    assert.equal(new Set(serials).size, 65)
    assert.ok(serials.every((serial) => serial.length > 24 && BigInt(`0x${serial}`) > 0n))
    for (const {pem} of leaves) assert.ok(!new X509Certificate(pem).serialNumber.startsWith('-'))
  })

  it('keep organizations in order, repetitions included', async () => {
    const {issuer} = await testAuthority()
    const organizations = ['zeta', 'alpha', 'zeta', 'mü']
    const {certificate} = await testLeaf(issuer, {subject: {commonName: 'a', organizations}})
    assert.deepEqual(certificate.subject.organizations, organizations)
  })

  it('have no common name longer than 64 characters', async () => {
    const {issuer} = await testAuthority()
    await testLeaf(issuer, {subject: {commonName: 'ü'.repeat(64)}})
    const tooLong = {commonName: 'a'.repeat(65)}
    const code = 'CERTIFICATE_REQUEST_INVALID'
    await assert.rejects(testLeaf(issuer, {subject: tooLong}), {code})
    await assert.rejects(
      createAuthorityCertificate(tooLong, await generateKeys(), validAround(NOW)),
      {code},
    )
  })

  it('are the first of a text that holds several', async () => {
    const [one, two] = [await testAuthority({commonName: 'one'}), await testAuthority()]
    assert.equal(parseCertificate(`text\n${one.pem}${two.pem}`).subject.commonName, 'one')
  })

  it('are refused with a code, whatever is wrong with their bytes', async () => {
    const {certificate} = await testAuthority()
    const {der} = certificate
    fc.assert(
      fc.property(
        fc.nat(der.length - 1),
        fc.integer({min: 1, max: 255}),
        fc.boolean(),
        (at, flip, cut) => {
          const changed = Buffer.from(der)
          changed[at] = (changed[at] ?? 0) ^ flip
          try {
            parseCertificateDer(cut ? changed.subarray(0, at) : changed)
            assert.ok(!cut)
          } catch (error) {
            assert.ok(
              error instanceof TrustError && error.code === 'CERTIFICATE_INVALID',
              String(error),
            )
          }
        },
      ),
      {numRuns: 500},
    )
  })
})
