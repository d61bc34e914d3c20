import {hash, randomBytes, type KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {publicKeyOf, type Certificate} from './certificate.ts'
import {DerReader, readBytesOfBits} from './der-reader.ts'
import {
  TAG,
  bitString,
  element,
  extension,
  octetString,
  sequence,
  time,
  unsignedInteger,
} from './der-writer.ts'
import {
  carriedOver,
  encodeAttributes,
  requireShortName,
  subjectAttributes,
  type NameAttribute,
  type Subject,
} from './distinguished-name.ts'
import {isPairOf, publicKeyDer} from './keys.ts'
import type {Validity} from './lifetimes.ts'
import {OID} from './oids.ts'
import {encodePem} from './pem.ts'
import type {CertificateRequest} from './request.ts'
import {signerFor} from './signatures.ts'
import {encodeSubjectNames, type SubjectNames} from './subject-names.ts'
import {authorityUsageExtensions, leafUsageExtensions, type Usage} from './usages.ts'

/** A CA that can sign. Its key is imported, and the parts that all certificates share are encoded, only once. */
export interface Issuer {
  certificate: Certificate
  /** Assembles and signs a certificate; signs. Returns DER. */
  sign(leaf: LeafContent): Promise<Buffer>
  /** Signs another CA with its name and key, so that whoever trusts this one trusts that one too. Returns DER. */
  signAuthority(authority: Certificate, validity: Validity): Promise<Buffer>
}

interface LeafContent {
  attributes: readonly NameAttribute[]
  names: Readonly<SubjectNames>
  publicKeyDer: Buffer
  /** As certificates.k8s.io names them. */
  usages: readonly string[]
  validity: Validity
}

export interface LeafTemplate {
  subject: Subject
  names: Readonly<SubjectNames>
  publicKey: KeyObject
  usages: readonly Usage[]
  validity: Validity
  /** Whether the common name may be longer than RFC 5280 allows; Kubernetes' clients and servers accept it. */
  allowsLongName?: boolean
}

const SERIAL_BYTES = 16
const VERSION_3 = Buffer.from('a003020102', 'hex')
const EXTENSIONS = 0xa3
const KEY_ID = 0x80

/** Random bytes are taken for many serial numbers at a time: asking for them costs more than making them. */
const SERIALS_AT_ONCE = 64
let random = Buffer.alloc(0)

function randomSerial(): Buffer {
  if (random.length === 0) random = randomBytes(SERIALS_AT_ONCE * SERIAL_BYTES)
  const serial = random.subarray(0, SERIAL_BYTES)
  random = random.subarray(SERIAL_BYTES)
  return serial
}

const sha1 = (bytes: Buffer): Buffer => hash('sha1', bytes, 'buffer')

/** RFC 5280 4.2.1.2, method 1: the SHA-1 of the public key's bits. It identifies a key and protects nothing. */
function keyIdOf(publicKeyInfo: Buffer): Buffer {
  const inner = new DerReader(publicKeyInfo).enter(TAG.sequence)
  inner.read(TAG.sequence)
  return sha1(readBytesOfBits(inner.read(TAG.bitString)))
}

/** What certificates of a CA name as the id of its key, in hexadecimal; computed if the CA's own certificate does not say it. */
export const authorityKeyIdOf = ({
  subjectKeyId,
  publicKeyDer: publicKeyInfo,
}: Pick<Certificate, 'subjectKeyId' | 'publicKeyDer'>): string =>
  subjectKeyId === undefined || subjectKeyId === ''
    ? keyIdOf(publicKeyInfo).toString('hex')
    : subjectKeyId

const MOST_REMEMBERED = 64
const remembered = new Map<string, Buffer>()

/** Requesters choose usages, so the cache of combinations is limited. */
function usageExtensions(usages: readonly string[]): Buffer {
  const key = JSON.stringify(usages)
  const known = remembered.get(key)
  if (known) return known
  const made = leafUsageExtensions(usages)
  if (remembered.size < MOST_REMEMBERED) remembered.set(key, made)
  return made
}

export function createIssuer(certificate: Certificate, key: KeyObject): Issuer {
  if (!isPairOf(key, publicKeyOf(certificate))) {
    throw new TrustError('PAIR_MISMATCH', 'the CA key does not belong to the CA certificate')
  }
  const signer = signerFor(key)
  const authorityKeyId = Buffer.from(authorityKeyIdOf(certificate), 'hex')
  const authorityExtension = extension(
    OID.authorityKeyId,
    sequence(element(KEY_ID, authorityKeyId)),
  )

  const signed = async (
    {notBefore, notAfter}: Validity,
    subject: Buffer,
    publicKeyInfo: Buffer,
    extensions: Buffer[],
  ): Promise<Buffer> => {
    const content = sequence(
      VERSION_3,
      unsignedInteger(randomSerial()),
      signer.algorithm,
      certificate.subject.der,
      sequence(time(notBefore), time(notAfter)),
      subject,
      publicKeyInfo,
      element(EXTENSIONS, sequence(...extensions)),
    )
    return sequence(content, signer.algorithm, bitString(await signer.sign(content)))
  }

  return {
    certificate,
    async sign({attributes, names, publicKeyDer: publicKeyInfo, usages, validity}) {
      const alternative = encodeSubjectNames(names)
      return await signed(validity, encodeAttributes(attributes), publicKeyInfo, [
        usageExtensions(usages),
        extension(OID.subjectKeyId, octetString(keyIdOf(publicKeyInfo))),
        authorityExtension,
        // With an empty subject the alternative names are the only identity, and RFC 5280 requires them to be critical.
        alternative
          ? extension(OID.subjectAltName, alternative, {critical: attributes.length === 0})
          : Buffer.alloc(0),
      ])
    },
    async signAuthority(authority, validity) {
      const keyId = Buffer.from(authorityKeyIdOf(authority), 'hex')
      return await signed(validity, authority.subject.der, authority.publicKeyDer, [
        authorityUsageExtensions(),
        extension(OID.subjectKeyId, octetString(keyId)),
        authorityExtension,
      ])
    },
  }
}

/** A CA, certified by another one as well. Valid no longer than either of them. Returns PEM. */
export async function crossSign(
  issuer: Issuer,
  authority: Certificate,
  validity: Validity,
): Promise<string> {
  const ends = [validity.notAfter, authority.notAfter, issuer.certificate.notAfter]
  const notAfter = new Date(Math.min(...ends.map((end) => end.getTime())))
  const starts = [validity.notBefore, authority.notBefore, issuer.certificate.notBefore]
  const notBefore = new Date(Math.max(...starts.map((start) => start.getTime())))
  return encodePem('CERTIFICATE', await issuer.signAuthority(authority, {notBefore, notAfter}))
}

/** A certificate for our own key. Returns PEM. */
export async function issueLeaf(issuer: Issuer, template: LeafTemplate): Promise<string> {
  if (!template.allowsLongName) requireShortName(template.subject)
  const der = await issuer.sign({
    attributes: subjectAttributes(template.subject),
    names: template.names,
    publicKeyDer: publicKeyDer(template.publicKey),
    usages: template.usages,
    validity: template.validity,
  })
  return encodePem('CERTIFICATE', der)
}

/**
 * A certificate for a request, as the csrsigning controller issues it: subject and names come from the request, usages and
 * validity from the signer; other requested extensions are dropped. Returns PEM, the leaf only.
 */
export async function issueFromRequest(
  issuer: Issuer,
  request: Pick<CertificateRequest, 'subject' | 'names' | 'publicKeyDer'>,
  {usages, validity}: {usages: readonly string[]; validity: Validity},
): Promise<string> {
  const der = await issuer.sign({
    attributes: carriedOver(request.subject),
    names: request.names,
    publicKeyDer: request.publicKeyDer,
    usages,
    validity,
  })
  return encodePem('CERTIFICATE', der)
}
