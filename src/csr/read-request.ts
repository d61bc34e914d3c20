import {TrustError, messageOf} from '../errors.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {
  parseStoredRequestDer,
  parseRequestDer,
  requestSubject,
  verifyRequest,
  type CertificateRequest,
} from '../pki/request.ts'
import {isSignedBySync} from '../pki/signatures.ts'
import {recently} from './recent.ts'

const LABEL = 'CERTIFICATE REQUEST'

export type RequestVerdict = {request: CertificateRequest} | {why: string}

const firstBlock = (encoded: string | undefined) =>
  pemBlocks(Buffer.from(encoded ?? '', 'base64').toString('latin1'))[0]

/** The common name that spec.request asks for, to find the few requests among many that are worth reading. */
export function commonNameIn(encoded: string | undefined): string | undefined {
  const block = firstBlock(encoded)
  return block && requestSubject(block.bytes)?.commonName
}

const RECENT = {most: 256, longest: 16 * 1024}
const parseEncoded = recently((encoded) => parseRequestDer(requireBlock(encoded)), RECENT)
/** Whoever makes a request has it read in full, just before it is signed: then nothing is left to do. */
const parseStored = recently(
  (encoded) => parseEncoded.known(encoded) ?? parseStoredRequestDer(requireBlock(encoded)),
  RECENT,
)

function requireBlock(encoded: string): Buffer {
  const block = firstBlock(encoded)
  if (block?.type === LABEL) return block.bytes
  throw new TrustError('CERTIFICATE_REQUEST_INVALID', `PEM block type must be ${LABEL}`)
}

function verdictOf(parse: () => CertificateRequest): RequestVerdict {
  try {
    return {request: parse()}
  } catch (error) {
    return {why: messageOf(error)}
  }
}

/** Reads spec.request and leaves the signature unchecked: for whoever knows that it was checked, or checks it elsewhere. */
export const parseSpecRequest = (encoded = ''): RequestVerdict =>
  verdictOf(() => parseEncoded(encoded))

/** As `parseSpecRequest`, for what a server of ours has stored: it has looked at the key, which costs most. */
export const parseStoredRequest = (encoded = ''): RequestVerdict =>
  verdictOf(() => parseStored(encoded))

/** Reads spec.request: base64 of PEM whose first block is a PKCS#10 request, signed by its own key. */
export function readRequest(encoded: string | undefined): RequestVerdict {
  const verdict = parseSpecRequest(encoded)
  if ('why' in verdict) return verdict
  const {request} = verdict
  try {
    return isSignedBySync(request.signed, request.publicKey)
      ? verdict
      : {why: 'the signature of the request does not match its public key'}
  } catch (error) {
    return {why: messageOf(error)}
  }
}

/**
 * Whether every reader of PEM finds the same request in spec.request. Of several blocks, or one with headers, one reader
 * takes what another passes over: what a person was shown would not be what is signed. API servers take such requests.
 */
export function isUnambiguous(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  const [, , body = '', ...rest] = text.split('-----')
  return rest.length === 2 && !body.includes(':')
}

interface WithRequest {
  spec?: {request?: string}
}

interface Reading {
  encoded: string | undefined
  read: RequestVerdict
  /** Absent until the signature has been checked. */
  verified?: RequestVerdict
}

const readings = new WeakMap<WithRequest, Reading>()

function readingOf(csr: WithRequest): Reading {
  const encoded = csr.spec?.request
  const earlier = readings.get(csr)
  if (earlier !== undefined && earlier.encoded === encoded) return earlier
  const reading: Reading = {encoded, read: parseSpecRequest(encoded)}
  readings.set(csr, reading)
  return reading
}

/** What an object's request asks for, its signature unchecked. Read once, however many steps look at the object. */
export const requestOf = (csr: WithRequest): RequestVerdict => readingOf(csr).read

/** Checks the signature, on the thread pool if it takes long, so that `verifiedRequestOf` finds it checked. */
export async function verifyAhead(csr: WithRequest): Promise<void> {
  const reading = readingOf(csr)
  if ('why' in reading.read) return
  try {
    await verifyRequest(reading.read.request)
    reading.verified = reading.read
  } catch (error) {
    reading.verified = {why: messageOf(error)}
  }
}

/** What an object's request asks for, signed by its own key. */
export function verifiedRequestOf(csr: WithRequest): RequestVerdict {
  const reading = readingOf(csr)
  if ('why' in reading.read) return reading.read
  reading.verified ??= readRequest(reading.encoded)
  return reading.verified
}
