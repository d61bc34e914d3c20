import {generateKeyPairSync} from 'node:crypto'
import {extension, oid, sequence, set, text, TAG} from '../../../src/pki/der-writer.ts'
import type {KeyPair} from '../../../src/pki/keys.ts'
import {OID} from '../../../src/pki/oids.ts'
import {encodePem, parsePem} from '../../../src/pki/pem.ts'
import {encodeSubjectNames, namesOfHosts} from '../../../src/pki/subject-names.ts'
import {SIGN, authorityExtension, buildRequest} from '../../pki/request-builder.ts'
import {rsaKeys} from '../../helpers/rsa-keys.ts'

/** Numbers that are the same in every run: a linear congruential generator. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, not including, `bound`. */
  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * bound)
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

const LABEL = 'CERTIFICATE REQUEST'
const P256: KeyPair = generateKeyPairSync('ec', {namedCurve: 'P-256'})
const names = (count: number) =>
  extension(
    OID.subjectAltName,
    encodeSubjectNames(
      namesOfHosts(Array.from({length: count}, (_, index) => `host-${index}.example.com`)),
    ) ?? Buffer.alloc(0),
  )

/** Good requests of every kind of key, to be spoilt. */
function goodRequests(): Buffer[] {
  const extensions = [[names(3), authorityExtension()]]
  return [
    buildRequest(P256, {extensions}),
    buildRequest(generateKeyPairSync('ec', {namedCurve: 'P-384'}), {
      algorithm: SIGN.ecdsaSha384,
      extensions,
    }),
    buildRequest(rsaKeys(), {algorithm: SIGN.rsaSha256}),
    buildRequest(generateKeyPairSync('ed25519'), {algorithm: SIGN.ed25519, extensions}),
  ].map((pem) => parsePem(pem)[0]?.bytes ?? Buffer.alloc(0))
}

const huge = (length: number) => 'a'.repeat(length)
const asPem = (der: Uint8Array) => encodePem(LABEL, der)

/** Texts that are no PEM of a request, though they come close. */
function spoiltPem(dice: Dice, der: Buffer): string {
  const pem = asPem(der)
  return dice.oneOf([
    () =>
      pem.replaceAll(LABEL, dice.oneOf(['NEW CERTIFICATE REQUEST', 'CERTIFICATE', '', 'X509 CRL'])),
    () => pem.slice(0, dice.below(pem.length - LABEL.length - 20)),
    () => pem.slice(1 + dice.below(10)),
    () => pem.replace('\n', ''),
    () => pem.replace(/[A-Z]\n/, '!\n'),
    () => '-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(1 + dice.below(2000)),
    () => der.toString('latin1'),
    () => der.toString('base64'),
    () => huge(dice.below(20_000)),
    () => '-----END CERTIFICATE REQUEST-----\n'.repeat(1 + dice.below(2000)),
  ])()
}

/** Well-formed and signed, and still not to be taken. */
function refusedContent(dice: Dice): string {
  const many = 2 + dice.below(200)
  return dice.oneOf([
    () => buildRequest(P256, {extensions: [Array.from({length: many}, () => names(1))]}),
    () => buildRequest(P256, {extensions: Array.from({length: many}, () => [names(1)])}),
    () => buildRequest(P256, {version: 1 + dice.below(120)}),
    () =>
      buildRequest(P256, {publicKeyInfo: sequence(oid('1.2.3'), text(TAG.utf8String, huge(many)))}),
    () =>
      buildRequest(P256, {subject: [{oid: OID.commonName, value: huge(many), tag: TAG.integer}]}),
    () => buildRequest(P256, {attributes: [sequence(oid(OID.extensionRequest), set())]}),
    () =>
      buildRequest(P256, {extensions: [[extension(OID.subjectAltName, Buffer.alloc(many, 0x30))]]}),
    () =>
      // As large as a field may be, and signed by nobody.
      asPem(sequence(Buffer.alloc(dice.below(200_000), dice.below(256)))),
  ])()
}

function damaged(dice: Dice, der: Buffer): Buffer {
  const bytes = Buffer.from(der)
  return dice.oneOf([
    () => bytes.subarray(0, dice.below(bytes.length)),
    () => flip(bytes, dice, 1),
    () => flip(bytes, dice, 2 + dice.below(20)),
    () => Buffer.concat([bytes, Buffer.alloc(1 + dice.below(100), dice.below(256))]),
    () => {
      const at = dice.below(bytes.length)
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + dice.below(8))])
    },
    () => {
      const at = dice.below(bytes.length)
      const more = Buffer.alloc(1 + dice.below(8), dice.below(256))
      return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
    },
  ])()
}

function flip(bytes: Buffer, dice: Dice, count: number): Buffer {
  for (let index = 0; index < count; index += 1) {
    const at = dice.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8))
  }
  return bytes
}

/** Endless requests, none of which may be taken; the same ones for the same seed, but for their keys. */
export function* malformedRequests(seed: number): Generator<string, never> {
  const dice = new Dice(seed)
  const good = goodRequests()
  for (;;) {
    const der = dice.oneOf(good)
    const kind = dice.below(10)
    if (kind < 6) {
      const bytes = damaged(dice, der)
      // Flips may undo each other, and what is added may be nothing.
      if (!bytes.equals(der)) yield asPem(bytes)
    } else if (kind < 8) yield spoiltPem(dice, der)
    else yield refusedContent(dice)
  }
}
