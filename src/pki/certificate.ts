import {hash, type KeyObject} from 'node:crypto'
import {messageOf, TrustError} from '../errors.ts'
import {
  DerError,
  DerReader,
  enterOnly,
  readBytesOfBits,
  readInteger,
  readTime,
} from './der-reader.ts'
import {TAG} from './der-writer.ts'
import {type DistinguishedName, readName} from './distinguished-name.ts'
import {type ExtensionFacts, factsOf, readExtensions} from './extensions.ts'
import {type KeyAlgorithm, publicKeyFromDer} from './keys.ts'
import {encodePem, parsePem} from './pem.ts'
import {readAlgorithm, type Signed} from './signatures.ts'

/** An X.509 certificate, read once into plain values. */
export interface Certificate extends ExtensionFacts {
  /** Lower-case hexadecimal, without leading zeros. */
  serial: string
  subject: DistinguishedName
  issuer: DistinguishedName
  notBefore: Date
  notAfter: Date
  /** SubjectPublicKeyInfo. */
  publicKeyDer: Buffer
  /** Lower-case hexadecimal SHA-256 of the whole certificate. */
  fingerprint: string
  signed: Signed
  der: Buffer
}

const VERSION = 0xa0
const ISSUER_UNIQUE_ID = 0x81
const SUBJECT_UNIQUE_ID = 0x82
const EXTENSIONS = 0xa3

function read(der: Buffer): Certificate {
  const outer = enterOnly(der, TAG.sequence)
  const content = outer.read(TAG.sequence)
  const algorithm = readAlgorithm(outer)
  const signature = readBytesOfBits(outer.read(TAG.bitString))
  outer.end()

  const inner = new DerReader(content.content)
  inner.optional(VERSION)
  const serial = readInteger(inner.read(TAG.integer))
    .toString('hex')
    .replace(/^0+(?=.)/, '')
  if (!readAlgorithm(inner).bytes.equals(algorithm.bytes)) {
    throw new DerError('it has two different signature algorithms')
  }
  const issuer = readName(inner.next())
  const validity = inner.enter(TAG.sequence)
  const notBefore = readTime(validity.next())
  const notAfter = readTime(validity.next())
  validity.end()
  const subject = readName(inner.next())
  const publicKeyDer = inner.read(TAG.sequence).bytes
  inner.optional(ISSUER_UNIQUE_ID)
  inner.optional(SUBJECT_UNIQUE_ID)
  const wrapped = inner.optional(EXTENSIONS)
  inner.end()
  const extensions = wrapped ? readExtensions(enterOnly(wrapped.content, TAG.sequence)) : []

  return {
    serial,
    subject,
    issuer,
    notBefore,
    notAfter,
    publicKeyDer,
    fingerprint: hash('sha256', der),
    signed: {content: content.bytes, algorithm: algorithm.id, signature},
    der,
    ...factsOf(extensions),
  }
}

export function parseCertificateDer(der: Uint8Array): Certificate {
  try {
    // A copy, so that it cannot change after the check.
    return read(Buffer.from(der))
  } catch (error) {
    throw new TrustError(
      'CERTIFICATE_INVALID',
      `the certificate cannot be read: ${messageOf(error)}`,
      {cause: error},
    )
  }
}

/** The first certificate of the text; `parseBundle` reads all of them. */
export function parseCertificate(text: string): Certificate {
  const block = parsePem(text).find(({label}) => label === 'CERTIFICATE')
  if (!block) throw new TrustError('CERTIFICATE_INVALID', 'there is no PEM certificate')
  return parseCertificateDer(block.bytes)
}

export const certificatePem = ({der}: Pick<Certificate, 'der'>): string =>
  encodePem('CERTIFICATE', der)

const publicKeys = new WeakMap<Certificate, KeyObject>()

/** The public key as an object. Importing one costs more than checking a signature, so it is cached with the certificate. */
export function publicKeyOf(certificate: Certificate): KeyObject {
  const known = publicKeys.get(certificate)
  if (known) return known
  const key = publicKeyFromDer(certificate.publicKeyDer)
  publicKeys.set(certificate, key)
  return key
}

export const isSelfIssued = ({subject, issuer}: Certificate): boolean =>
  subject.der.equals(issuer.der)

const BY_CURVE: Readonly<Record<string, KeyAlgorithm>> = {
  prime256v1: 'ECDSA-P256',
  secp384r1: 'ECDSA-P384',
}
const BY_LENGTH: Readonly<Record<number, KeyAlgorithm>> = {
  2048: 'RSA-2048',
  3072: 'RSA-3072',
  4096: 'RSA-4096',
}

/** The kind of a certificate's key; undefined for one that we do not make. */
export function algorithmOf(certificatePem: string): KeyAlgorithm | undefined {
  const {asymmetricKeyDetails: details = {}} = publicKeyOf(parseCertificate(certificatePem))
  return BY_CURVE[details.namedCurve ?? ''] ?? BY_LENGTH[details.modulusLength ?? 0]
}
