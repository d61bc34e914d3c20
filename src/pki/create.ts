import {randomBytes} from 'node:crypto'
import {bitString, element, sequence, unsignedInteger} from './der-writer.ts'
import {
  encodeAttributes,
  requireShortName,
  type Subject,
  subjectAttributes,
} from './distinguished-name.ts'
import {type KeyPair, publicKeyDer} from './keys.ts'
import type {Validity} from './lifetimes.ts'
import {encodePem} from './pem.ts'
import {signerFor} from './signatures.ts'
import {NO_NAMES, type SubjectNames} from './subject-names.ts'

const SERIAL_BYTES = 16

/** A positive serial number whose first octet is not zero and needs no padding. */
function randomSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

/** A self-signed CA certificate, as PEM. */
export async function createAuthorityCertificate(
  subject: Subject,
  keys: KeyPair,
  validity: Validity,
): Promise<string> {
  requireShortName(subject)
  const {selfSign} = await import('./x509.ts')
  return encodePem('CERTIFICATE', await selfSign(subject, keys, validity, randomSerial()))
}

/** A PKCS#10 certificate request, as PEM. */
export async function createRequest(
  subject: Subject,
  keys: KeyPair,
  names: Readonly<SubjectNames> = NO_NAMES,
): Promise<string> {
  requireShortName(subject)
  const {signRequest} = await import('./x509.ts')
  return encodePem('CERTIFICATE REQUEST', await signRequest(subject, names, keys))
}

const VERSION = unsignedInteger(Uint8Array.of(0))
const NO_ATTRIBUTES = element(0xa0)

/**
 * A PKCS#10 request with only a subject, as PEM: what a kubelet needs to be a client. Written without the library of
 * `createRequest`, which takes longer to load than the rest of a join.
 */
export async function createPlainRequest(subject: Subject, keys: KeyPair): Promise<string> {
  const signer = signerFor(keys.privateKey)
  const content = sequence(
    VERSION,
    encodeAttributes(subjectAttributes(subject)),
    publicKeyDer(keys.publicKey),
    NO_ATTRIBUTES,
  )
  const signature = bitString(await signer.sign(content))
  return encodePem('CERTIFICATE REQUEST', sequence(content, signer.algorithm, signature))
}
