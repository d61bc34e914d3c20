import 'reflect-metadata'
import assert from 'node:assert/strict'
import {X509Certificate as NodeCertificate} from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
} from '@peculiar/x509'
import fc from 'fast-check'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createRequest} from '../../src/pki/create.ts'
import {canonicalIp} from '../../src/pki/ip-address.ts'
import {createIssuer, issueFromRequest} from '../../src/pki/issuer.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {OID} from '../../src/pki/oids.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {authorityExtension, buildRequest} from './request-builder.ts'
import {NOW, testAuthority, validAround, type TestAuthority} from './support.ts'

const CLIENT = ['digital signature', 'client auth']
const validity = validAround(NOW)
const text = fc.stringMatching(/^[A-Za-zäöü0-9:. _-]{1,40}$/)

describe('issuing from requests', () => {
  let authority: TestAuthority
  let keys: KeyPair
  before(async () => {
    authority = await testAuthority()
    keys = await generateKeys()
  })

  it("gives certificates that x509's own parser reads as they were meant", async () => {
    const caKey = await new X509Certificate(authority.pem).publicKey.export()
    const seconds = fc.integer({min: 0, max: 8_000_000_000})
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(text, {maxLength: 4}),
        fc.uniqueArray(fc.domain(), {maxLength: 4}),
        fc.uniqueArray(
          fc.oneof(
            fc.ipV4(),
            fc.ipV6().map((ip) => canonicalIp(ip) ?? '::'),
          ),
          {maxLength: 4},
        ),
        fc.subarray(['digital signature', 'key encipherment', 'key agreement', 'decipher only'], {
          minLength: 1,
        }),
        fc.subarray(['server auth', 'client auth', 'code signing']),
        seconds,
        async (commonName, organizations, dns, ips, bits, extended, end) => {
          const names = {dns, ips, emails: [], uris: []}
          const request = parseRequest(
            await createRequest({commonName, organizations}, keys, names),
          )
          const notAfter = new Date(NOW.getTime() + end * 1000)
          const pem = await issueFromRequest(authority.issuer, request, {
            usages: [...bits, ...extended],
            validity: {notBefore: NOW, notAfter},
          })

          const read = new X509Certificate(pem)
          assert.ok(await read.verify({publicKey: caKey, signatureOnly: true}))
          assert.deepEqual(read.subjectName.getField('CN'), [commonName])
          assert.deepEqual(read.subjectName.getField('O'), organizations)
          assert.equal(read.issuer, 'CN=test-ca')
          assert.deepEqual([read.notBefore, read.notAfter], [NOW, notAfter])
          assert.equal(read.getExtension(BasicConstraintsExtension)?.ca, false)
          assert.equal(read.getExtension(BasicConstraintsExtension)?.critical, true)
          assert.equal(read.getExtension(KeyUsagesExtension)?.critical, true)
          assert.equal(
            read.getExtension(ExtendedKeyUsageExtension)?.usages.length ?? 0,
            extended.length,
          )
          const alternative =
            read.getExtension(SubjectAlternativeNameExtension)?.names.toJSON() ?? []
          assert.deepEqual(
            alternative.map(
              ({type, value}) => `${type}:${type === 'ip' ? canonicalIp(value) : value}`,
            ),
            [...dns.map((name) => `dns:${name}`), ...ips.map((ip) => `ip:${ip}`)],
          )

          const own = parseCertificate(pem)
          assert.equal(own.subject.commonName, commonName)
          assert.deepEqual(own.subject.organizations, organizations)
          assert.deepEqual(own.names, names)
          if (extended.length === 0)
            assert.deepEqual([...(own.keyUsages ?? [])].sort(), [...bits].sort())
          assert.deepEqual(own.extendedKeyUsages ?? [], extended)
          assert.equal(own.subjectKeyId, read.getExtension(SubjectKeyIdentifierExtension)?.keyId)
          assert.equal(
            own.authorityKeyId,
            read.getExtension(AuthorityKeyIdentifierExtension)?.keyId,
          )
          assert.equal(own.authorityKeyId, authority.certificate.subjectKeyId)
        },
      ),
      {numRuns: 60},
    )
  }).timeout(60_000)

  it('drops CA:true and every other extension that is asked for', async () => {
    const request = parseRequest(buildRequest(keys, {extensions: [[authorityExtension()]]}))
    const issued = parseCertificate(
      await issueFromRequest(authority.issuer, request, {usages: CLIENT, validity}),
    )
    assert.equal(issued.isAuthority, false)
    assert.deepEqual(issued.extendedKeyUsages, ['client auth'])
  })

  it('does not let a requester choose a UID or a second common name', async () => {
    const request = parseRequest(
      buildRequest(keys, {
        subject: [
          {oid: OID.commonName, value: 'first'},
          {oid: OID.kubernetesUid, value: 'somebody'},
          {oid: OID.organizationalUnit, value: 'unit'},
          {oid: OID.commonName, value: 'last'},
        ],
      }),
    )
    const {subject} = parseCertificate(
      await issueFromRequest(authority.issuer, request, {usages: CLIENT, validity}),
    )
    assert.deepEqual(subject.attributes, [
      {oid: OID.organizationalUnit, value: 'unit'},
      {oid: OID.commonName, value: 'last'},
    ])
  })

  it('makes the names critical where the subject is empty', async () => {
    const names = {dns: ['a'], ips: [], emails: ['a@example.com'], uris: ['spiffe://a/b']}
    const request = parseRequest(await createRequest({commonName: ''}, keys, names))
    const pem = await issueFromRequest(authority.issuer, request, {usages: CLIENT, validity})
    assert.equal(
      new X509Certificate(pem).getExtension(SubjectAlternativeNameExtension)?.critical,
      true,
    )
    assert.deepEqual(parseCertificate(pem).names, names)
  })

  for (const usages of [
    ['cert sign'],
    ['client auth', 'made up'],
    ['client auth,digital signature'],
  ]) {
    it(`refuses the usages ${usages.join(' and ')}`, async () => {
      const request = parseRequest(buildRequest(keys))
      await issueFromRequest(authority.issuer, request, {
        usages: ['client auth', 'digital signature'],
        validity,
      })
      await assert.rejects(issueFromRequest(authority.issuer, request, {usages, validity}), {
        code: 'CERTIFICATE_REQUEST_INVALID',
      })
    })
  }

  it('signs for a node whose name is long, as clouds give them', async () => {
    const commonName = `system:node:${'a'.repeat(63)}.${'b'.repeat(63)}.internal`
    const subject = [{oid: OID.commonName, value: commonName}]
    const request = parseRequest(buildRequest(keys, {subject}))
    const pem = await issueFromRequest(authority.issuer, request, {usages: CLIENT, validity})
    assert.equal(parseCertificate(pem).subject.commonName, commonName)
    assert.equal(new NodeCertificate(pem).subject, `CN=${commonName}`)
  })

  it('refuses a CA key that is not of the CA', () => {
    assert.throws(() => createIssuer(authority.certificate, keys.privateKey), {
      code: 'PAIR_MISMATCH',
    })
  })
})
