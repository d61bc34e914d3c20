import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'
import {join} from 'node:path'
import fc from 'fast-check'
import {hasCode} from '../../src/errors.ts'
import {createRequest} from '../../src/pki/create.ts'
import {TAG, element, extension, sequence} from '../../src/pki/der-writer.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {OID} from '../../src/pki/oids.ts'
import {parsePem} from '../../src/pki/pem.ts'
import {parseRequest, parseRequestDer, requestPem, verifyRequest} from '../../src/pki/request.ts'
import {encodeSubjectNames, namesOfHosts} from '../../src/pki/subject-names.ts'
import {SIGN, authorityExtension, buildRequest, type RequestParts} from './request-builder.ts'
import {openssl, save, skipWithoutOpenssl, useTemporaryFolder} from './support.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

const code = 'CERTIFICATE_REQUEST_INVALID'
const names = namesOfHosts(['a.example.com', '192.0.2.1'])
const namesExtension = extension(OID.subjectAltName, encodeSubjectNames(names) ?? Buffer.alloc(0))

describe('certificate requests', () => {
  let keys: KeyPair
  before(async () => {
    keys = await generateKeys()
  })

  it('come back as they were made, and verify', async () => {
    const subject = {commonName: 'system:node:a', organizations: ['system:nodes']}
    const pem = await createRequest(subject, keys, names)
    const request = parseRequest(pem)
    await verifyRequest(request)
    assert.equal(request.subject.commonName, subject.commonName)
    assert.deepEqual(request.subject.organizations, subject.organizations)
    assert.deepEqual(request.names, names)
    assert.ok(request.publicKey.equals(keys.publicKey))
    assert.equal(request.signatureAlgorithm, 'ECDSA-SHA256')
    assert.equal(requestPem(request), pem)
  })

  it('are refused where another key signed them', async () => {
    const other = await generateKeys()
    const publicKeyInfo = other.publicKey.export({format: 'der', type: 'spki'})
    const request = parseRequest(buildRequest(keys, {publicKeyInfo}))
    await assert.rejects(verifyRequest(request), {code, message: /signature/})
  })

  it('may hold critical extensions and any other attribute', () => {
    const request = parseRequest(
      buildRequest(keys, {extensions: [[authorityExtension()], [namesExtension]]}),
    )
    assert.deepEqual(
      request.requestedExtensions.map(({oid, critical}) => [oid, critical]),
      [
        [OID.basicConstraints, true],
        [OID.subjectAltName, false],
      ],
    )
    assert.deepEqual(request.names, names)
  })

  const refusals: {name: string; parts: RequestParts}[] = [
    {name: 'an extension asked for twice', parts: {extensions: [[namesExtension, namesExtension]]}},
    {
      name: 'one asked for in two attributes',
      parts: {extensions: [[namesExtension], [namesExtension]]},
    },
    {name: 'a signature with SHA-1', parts: {algorithm: {oid: '1.2.840.10045.4.1', hash: 'sha1'}}},
    {
      name: 'parameters of the signature algorithm',
      parts: {algorithm: {...SIGN.ecdsaSha256, parameters: Buffer.from([4, 0])}},
    },
    {name: 'another label', parts: {label: 'NEW CERTIFICATE REQUEST'}},
    {name: 'another version', parts: {version: 1}},
    {
      name: 'a subject that is no text',
      parts: {subject: [{oid: OID.commonName, value: '\x01', tag: TAG.integer}]},
    },
    {
      name: 'an IP address of five bytes',
      parts: {
        extensions: [[extension(OID.subjectAltName, sequence(element(0x87, Buffer.alloc(5))))]],
      },
    },
    {name: 'a key of nothing', parts: {publicKeyInfo: sequence()}},
  ]
  for (const {name, parts} of refusals) {
    it(`are refused with ${name}`, () => {
      assert.throws(() => parseRequest(buildRequest(keys, parts)), {code})
    })
  }

  for (const [name, weak] of [
    ['an RSA key of 1024 bits', () => generateKeyPairSync('rsa', {modulusLength: 1024})],
    [
      'an RSA exponent of 3',
      () => generateKeyPairSync('rsa', {modulusLength: 2048, publicExponent: 3}),
    ],
    ['a key on P-224', () => generateKeyPairSync('ec', {namedCurve: 'secp224r1'})],
    ['a key on secp256k1', () => generateKeyPairSync('ec', {namedCurve: 'secp256k1'})],
  ] as const) {
    it(`are refused with ${name}`, () => {
      const pair = weak()
      const isRsa = pair.privateKey.asymmetricKeyType === 'rsa'
      const algorithm = {
        oid: isRsa ? '1.2.840.113549.1.1.11' : '1.2.840.10045.4.3.2',
        hash: 'sha256',
      }
      assert.throws(() => parseRequest(buildRequest(pair, {algorithm})), {
        code,
        message: /public key/,
      })
    })
  }

  it('are refused with MD5', () => {
    const pair = rsaKeys()
    const algorithm = {oid: '1.2.840.113549.1.1.4', hash: 'md5'}
    assert.throws(() => parseRequest(buildRequest(pair, {algorithm})), {code, message: /weak/})
  })

  it('are refused with a code, whatever is wrong with their bytes', async () => {
    const [block] = parsePem(buildRequest(keys, {extensions: [[namesExtension]]}))
    const der = block?.bytes ?? Buffer.alloc(0)
    await fc.assert(
      fc.asyncProperty(fc.nat(der.length - 1), fc.integer({min: 1, max: 255}), async (at, flip) => {
        const changed = Buffer.from(der)
        changed[at] = (changed[at] ?? 0) ^ flip
        try {
          await verifyRequest(parseRequestDer(changed))
          assert.fail('a changed request was accepted')
        } catch (error) {
          assert.ok(hasCode(error, code), String(error))
        }
      }),
      {numRuns: 400},
    )
  })

  describe('made by openssl', () => {
    skipWithoutOpenssl()
    const folder = useTemporaryFolder()
    const make = async (...args: string[]) =>
      openssl(
        'req',
        '-new',
        '-subj',
        '/O=system:nodes/CN=system:node:x',
        '-key',
        join(folder(), 'k'),
        ...args,
      )

    for (const [name, genpkey, digest, algorithm] of [
      ['Ed25519', ['-algorithm', 'ED25519'], '-sha256', 'Ed25519'],
      ['RSA and SHA-512', ['-algorithm', 'RSA'], '-sha512', 'SHA512-RSA'],
      [
        'P-521 and SHA-384',
        ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521'],
        '-sha384',
        'ECDSA-SHA384',
      ],
    ] as const) {
      it(`verify with ${name}`, async () => {
        await save(folder(), {k: await openssl('genpkey', ...genpkey)})
        const request = parseRequest(await make(digest, '-addext', 'subjectAltName=DNS:x,IP:::1'))
        await verifyRequest(request)
        assert.equal(request.signatureAlgorithm, algorithm)
        assert.deepEqual(request.names, namesOfHosts(['x', '::1']))
        assert.deepEqual(request.subject.organizations, ['system:nodes'])
      })
    }

    it('are refused where the curve is spelled out instead of named', async () => {
      const curve = ['ec_paramgen_curve:P-256', 'ec_param_enc:explicit']
      const options = curve.flatMap((option) => ['-pkeyopt', option])
      await save(folder(), {k: await openssl('genpkey', '-algorithm', 'EC', ...options)})
      const pem = await make()
      assert.throws(() => parseRequest(pem), {code})
    })
  })
})
