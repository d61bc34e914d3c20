import type {KeyObject} from 'node:crypto'
import {TrustError, messageOf} from '../errors.ts'
import {
  DerError,
  DerReader,
  enterOnly,
  readBytesOfBits,
  readOid,
  readSmallInteger,
} from './der-reader.ts'
import {TAG, element} from './der-writer.ts'
import {readName, type DistinguishedName} from './distinguished-name.ts'
import {readExtensions, type Extension} from './extensions.ts'
import {requireStrongKey} from './key-policy.ts'
import {publicKeyFromDer} from './keys.ts'
import {OID} from './oids.ts'
import {encodePem, parsePem} from './pem.ts'
import {isSignedBy, readAlgorithm, signatureAlgorithmName, type Signed} from './signatures.ts'
import {NO_NAMES, readSubjectNames, type SubjectNames} from './subject-names.ts'

/** A PKCS#10 request, read once into plain values. Its signature is checked by `verifyRequest`. */
export interface CertificateRequest {
  subject: DistinguishedName
  names: Readonly<SubjectNames>
  /** Imported on demand: that costs more than reading the whole request. */
  readonly publicKey: KeyObject
  /** SubjectPublicKeyInfo. */
  publicKeyDer: Buffer
  /** What the requester asks for; signers decide. */
  requestedExtensions: Extension[]
  signatureAlgorithm: string
  signed: Signed
  der: Buffer
}

const ATTRIBUTES = 0xa0
const LABEL = 'CERTIFICATE REQUEST'
const NO_PARAMETERS = element(TAG.null)

function invalid(message: string, cause?: unknown): TrustError {
  return new TrustError('CERTIFICATE_REQUEST_INVALID', message, {cause})
}

/** The extensions of every extension request among the attributes. Other attributes are ignored. */
function readRequestedExtensions(attributes: DerReader): Extension[] {
  const lists: Buffer[] = []
  while (!attributes.done) {
    const attribute = attributes.enter(TAG.sequence)
    if (readOid(attribute.read(TAG.oid)) !== OID.extensionRequest) continue
    lists.push(attribute.enter(TAG.set).read(TAG.sequence).content)
  }
  return readExtensions(new DerReader(Buffer.concat(lists)))
}

function read(der: Buffer): CertificateRequest {
  const outer = enterOnly(der, TAG.sequence)
  const content = outer.read(TAG.sequence)
  const {id: algorithm, parameters} = readAlgorithm(outer)
  const signature = readBytesOfBits(outer.read(TAG.bitString))
  outer.end()

  const inner = new DerReader(content.content)
  if (readSmallInteger(inner.read(TAG.integer)) !== 0) throw new DerError('its version is unknown')
  const subject = readName(inner.next())
  const publicKeyInfo = inner.read(TAG.sequence)
  const requestedExtensions = readRequestedExtensions(inner.enter(ATTRIBUTES))
  inner.end()

  const signatureAlgorithm = signatureAlgorithmName(algorithm)
  if (signatureAlgorithm === undefined) {
    throw new DerError(`its signature algorithm (${algorithm}) is weak or unknown`)
  }
  // The signature does not cover them, and no supported algorithm has any.
  if (parameters.length > 0 && !parameters.equals(NO_PARAMETERS)) {
    throw new DerError('its signature algorithm has parameters')
  }
  const names = requestedExtensions.find(({oid}) => oid === OID.subjectAltName)

  let imported: KeyObject | undefined
  return {
    subject,
    names: names ? readSubjectNames(names.value) : NO_NAMES,
    get publicKey() {
      return (imported ??= publicKeyFromDer(publicKeyInfo.bytes))
    },
    publicKeyDer: publicKeyInfo.bytes,
    requestedExtensions,
    signatureAlgorithm,
    signed: {content: content.bytes, algorithm, signature},
    der,
  }
}

/** Only the subject, which is much faster than reading everything; undefined if it cannot be read. */
export function requestSubject(der: Uint8Array): DistinguishedName | undefined {
  try {
    const content = enterOnly(Buffer.from(der), TAG.sequence).enter(TAG.sequence)
    content.read(TAG.integer)
    return readName(content.next())
  } catch {
    return undefined
  }
}

function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw invalid(`the certificate request is refused: ${messageOf(error)}`, error)
  }
}

export const parseRequestDer = (der: Uint8Array): CertificateRequest =>
  refusing(() => {
    const request = read(Buffer.from(der))
    requireStrongKey(request.publicKey)
    return request
  })

/** Like `parseRequestDer`, without checking the key: for stored requests, which were checked before. */
export const parseStoredRequestDer = (der: Uint8Array): CertificateRequest =>
  refusing(() => read(Buffer.from(der)))

/**
 * The first block of the text, which must be labelled `CERTIFICATE REQUEST`, as in the API server. Refuses weak keys, weak
 * signature algorithms and duplicate extensions.
 */
export function parseRequest(text: string): CertificateRequest {
  const [block] = parsePem(text)
  if (block?.label !== LABEL) throw invalid(`there is no PEM block of type "${LABEL}"`)
  return parseRequestDer(block.bytes)
}

/** Refuses a request that is not signed with its own key: its sender may not have that key. */
export async function verifyRequest(request: CertificateRequest): Promise<void> {
  if (!(await isSignedBy(request.signed, request.publicKey))) {
    throw invalid('the signature of the certificate request does not match its public key')
  }
}

export const requestPem = ({der}: Pick<CertificateRequest, 'der'>): string => encodePem(LABEL, der)
