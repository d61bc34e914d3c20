import assert from 'node:assert/strict'
import {generateKeyPairSync, randomBytes} from 'node:crypto'
import {TAG, element, extension, oid, sequence, set, text} from '../../../src/pki/der-writer.ts'
import type {KeyPair} from '../../../src/pki/keys.ts'
import {OID} from '../../../src/pki/oids.ts'
import {encodePem, parsePem} from '../../../src/pki/pem.ts'
import {encodeSubjectNames, namesOfHosts} from '../../../src/pki/subject-names.ts'
import {SIGN, authorityExtension, buildRequest} from '../../pki/request-builder.ts'
import {CSRS, csrObject, encoded, useServer} from './support.ts'
import {P256, P256_PRIME, ecKeyInfo, modulusOf, point, rsaKeyInfo} from './weak-keys.ts'
import {rsaKeys} from '../../helpers/rsa-keys.ts'

const p256 = generateKeyPairSync('ec', {namedCurve: 'P-256'})
const p384 = generateKeyPairSync('ec', {namedCurve: 'P-384'})
const p521 = generateKeyPairSync('ec', {namedCurve: 'P-521'})
const rsa = rsaKeys()
const ed25519 = generateKeyPairSync('ed25519')
const LABEL = 'CERTIFICATE REQUEST'

const namesExtension = (...hosts: string[]) =>
  extension(OID.subjectAltName, encodeSubjectNames(namesOfHosts(hosts)) ?? Buffer.alloc(0))
const otherNames = (tag: number, value: string) =>
  extension(OID.subjectAltName, sequence(text(tag, value)))
const attribute = (id: string, value: string) => sequence(oid(id), set(text(TAG.utf8String, value)))
const CHALLENGE = '1.2.840.113549.1.9.7'
const derOf = (pem: string) => parsePem(pem)[0]?.bytes ?? Buffer.alloc(0)
const pemOf = (der: Uint8Array) => encodePem(LABEL, der)
const good = buildRequest(p256)
const flipped = (at: (der: Buffer) => number) => {
  const der = Buffer.from(derOf(good))
  der[at(der)] = (der[at(der)] ?? 0) ^ 1
  return pemOf(der)
}
const withKey = (publicKeyInfo: Buffer, keys: KeyPair = p256) => buildRequest(keys, {publicKeyInfo})

/** Cases 06, B and C: what a real API server takes and we take too. */
const accepted: Record<string, () => string> = {
  'RSA with SHA-256': () => buildRequest(rsa, {algorithm: SIGN.rsaSha256}),
  'RSA with SHA-384': () => buildRequest(rsa, {algorithm: SIGN.rsaSha384}),
  'RSA with SHA-512': () => buildRequest(rsa, {algorithm: SIGN.rsaSha512}),
  'RSA of 3072 bits': () => buildRequest(rsaKeys(3072), {algorithm: SIGN.rsaSha256}),
  'RSA of 4096 bits': () => buildRequest(rsaKeys(4096), {algorithm: SIGN.rsaSha256}),
  'P-256 with SHA-256': () => buildRequest(p256),
  'P-256 with SHA-512': () => buildRequest(p256, {algorithm: SIGN.ecdsaSha512}),
  'P-384 with SHA-384': () => buildRequest(p384, {algorithm: SIGN.ecdsaSha384}),
  'P-521 with SHA-512': () => buildRequest(p521, {algorithm: SIGN.ecdsaSha512}),
  Ed25519: () => buildRequest(ed25519, {algorithm: SIGN.ed25519}),
  'an empty subject': () => buildRequest(p256, {subject: []}),
  'a subject of many kinds of text': () =>
    buildRequest(p256, {
      subject: [
        {oid: OID.country, value: 'CH', tag: TAG.printableString},
        {oid: OID.organization, value: 'Zürich', tag: TAG.utf8String},
        {oid: '0.9.2342.19200300.100.1.25', value: 'example', tag: TAG.ia5String},
        {oid: OID.commonName, value: 'a', tag: TAG.t61String},
      ],
    }),
  'an attribute that is there twice': () =>
    buildRequest(p256, {attributes: [attribute(CHALLENGE, 'a'), attribute(CHALLENGE, 'b')]}),
  'a critical extension request': () => buildRequest(p256, {extensions: [[authorityExtension()]]}),
  'two extension requests': () =>
    buildRequest(p256, {extensions: [[authorityExtension()], [namesExtension('a.example.com')]]}),
  'names and addresses': () =>
    buildRequest(p256, {
      extensions: [[namesExtension('a.example.com', '192.0.2.1', '2001:db8::1')]],
    }),
  'no name at all, which only a public CA refuses': () => buildRequest(p256, {subject: []}),
  'a mail address': () => buildRequest(p256, {extensions: [[otherNames(0x81, 'a@example.com')]]}),
  'a URI': () => buildRequest(p256, {extensions: [[otherNames(0x86, 'spiffe://a/b')]]}),
  'a common name that is an address': () =>
    buildRequest(p256, {subject: [{oid: OID.commonName, value: '192.0.2.1'}]}),
  'text around the block': () => `a request\n${good}and no more\n`,
  'lines that end as on Windows': () => good.replaceAll('\n', '\r\n'),
  'headers in the block': () => good.replace('-----\n', '-----\nComment: hello\n\n'),
  'a second block of another label': () => `${good}${encodePem('CERTIFICATE', randomBytes(8))}`,
}

const PEM = /PEM block type must be CERTIFICATE REQUEST/
const KEY = /public key/
const SIGNATURE = /signature/
const weak = /signature algorithm \([\d.]+\) is weak or unknown/

/** What a real API server refuses, and we refuse too, each with what is said of it. */
const refused: Record<string, [pem: () => string, why: RegExp]> = {
  'another label': [() => buildRequest(p256, {label: 'NEW CERTIFICATE REQUEST'}), PEM],
  'a certificate': [() => encodePem('CERTIFICATE', derOf(good)), PEM],
  'no end': [() => good.slice(0, good.indexOf('-----END')), PEM],
  'another label at the end': [() => good.replace(`END ${LABEL}`, 'END CERTIFICATE'), PEM],
  'a label in small letters': [() => buildRequest(p256, {label: LABEL.toLowerCase()}), PEM],
  'no base64': [() => good.replaceAll(/^[^-]+$/gm, '%%%'), PEM],
  'DER without PEM': [() => derOf(good).toString('latin1'), PEM],
  'nothing in the block': [() => pemOf(Buffer.alloc(0)), /cut short/],
  'data that is cut short': [() => pemOf(derOf(good).subarray(0, -1)), /cut short/],
  'data behind the request': [
    () => pemOf(Buffer.concat([derOf(good), Buffer.from([5, 0])])),
    /more data/,
  ],
  'a set in place of the sequence': [
    () => {
      const der = Buffer.from(derOf(good))
      der[0] = TAG.set
      return pemOf(der)
    },
    /tag 0x31/,
  ],
  'lengths that are not the shortest': [
    () => {
      const der = derOf(good)
      return pemOf(
        Buffer.concat([Uint8Array.of(0x30, 0x83, 0, 0, der.length - 3), der.subarray(3)]),
      )
    },
    /length/,
  ],
  'lengths without an end': [
    () =>
      pemOf(Buffer.concat([Uint8Array.of(0x30, 0x80), derOf(good).subarray(3), Buffer.alloc(2)])),
    /length/,
  ],
  'another version': [() => buildRequest(p256, {version: 1}), /version/],
  'an extension that is asked for twice': [
    () => buildRequest(p256, {extensions: [[namesExtension('a'), namesExtension('b')]]}),
    /twice/,
  ],
  'an extension that is asked for in two attributes': [
    () => buildRequest(p256, {extensions: [[namesExtension('a')], [namesExtension('b')]]}),
    /twice/,
  ],
  'an address of five bytes': [
    () =>
      buildRequest(p256, {
        extensions: [[extension(OID.subjectAltName, sequence(element(0x87, Buffer.alloc(5))))]],
      }),
    /address/,
  ],
  'no key': [() => withKey(sequence()), KEY],
  'a key of an unknown kind': [
    () => withKey(sequence(sequence(oid('1.2.3.4')), element(TAG.bitString, Uint8Array.of(0, 1)))),
    KEY,
  ],
  'a key that cannot sign': [
    () => withKey(generateKeyPairSync('x25519').publicKey.export({format: 'der', type: 'spki'})),
    KEY,
  ],
  'a DSA key': [
    () => {
      const dsa = generateKeyPairSync('dsa', {modulusLength: 1024, divisorLength: 160})
      return buildRequest(dsa, {algorithm: SIGN.dsaSha256})
    },
    weak,
  ],
  'an RSA key of 1000 bits': [() => withKey(rsaKeyInfo(modulusOf(1000))), KEY],
  'a curve that few know': [
    () => buildRequest(generateKeyPairSync('ec', {namedCurve: 'secp256k1'})),
    KEY,
  ],
  'the curve SM2': [() => withKey(ecKeyInfo('1.2.156.10197.1.301', point(1n, 2n))), KEY],
  'a point off its curve': [() => withKey(ecKeyInfo(P256, point(1n, 1n))), KEY],
  'a point with coordinates larger than the field': [
    () => withKey(ecKeyInfo(P256, point(P256_PRIME + 1n, P256_PRIME + 1n))),
    KEY,
  ],
  'the point at infinity': [() => withKey(ecKeyInfo(P256, Uint8Array.of(0))), KEY],
  'a signature with MD5': [() => buildRequest(rsa, {algorithm: SIGN.rsaMd5}), weak],
  'a signature with MD4': [
    () => buildRequest(rsa, {algorithm: {oid: '1.2.840.113549.1.1.3', hash: 'sha256'}}),
    weak,
  ],
  'a signature that was changed': [() => flipped((der) => der.length - 1), SIGNATURE],
  'content that was changed': [
    () => flipped((der) => der.indexOf(Buffer.from('someone'))),
    SIGNATURE,
  ],
  'the signature of another key': [
    () => withKey(p384.publicKey.export({format: 'der', type: 'spki'})),
    SIGNATURE,
  ],
  'an algorithm that is not that of the key': [
    () => buildRequest(p256, {algorithm: {oid: SIGN.rsaSha256.oid, hash: 'sha256'}}),
    SIGNATURE,
  ],
}

describe('certificate requests of every kind', () => {
  const {api} = useServer()

  for (const [name, pem] of Object.entries(accepted)) {
    it(`are taken with ${name}`, async () => {
      const {status, text: said} = await api().post(CSRS, csrObject({request: encoded(pem())}))
      assert.equal(status, 201, said)
    })
  }

  for (const [name, [pem, why]] of Object.entries(refused)) {
    it(`are refused with ${name}`, async () => {
      const request = Buffer.from(pem(), 'latin1').toString('base64')
      const {status, causes, text: said} = await api().post(CSRS, csrObject({request}))
      assert.equal(status, 422, said)
      assert.equal(causes.length, 1)
      assert.match(causes.join(), /^spec\.request: Invalid value: "/)
      assert.match(causes.join(), why)
    })
  }
})
