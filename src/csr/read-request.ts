import {messageOf, TrustError} from '../errors.ts'
import {type Certificate, parseCertificate, parseCertificateDer} from '../pki/certificate.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {
  type CertificateRequest,
  parseRequestDer,
  parseStoredRequestDer,
  requestSubject,
  verifyRequest,
} from '../pki/request.ts'
import {isSignedBySync} from '../pki/signatures.ts'

interface RecentOptions {
  /** How many results are kept. */
  most: number
  /** Longer texts are worked out each time, so that nobody can fill the memory with them. */
  longest: number
}

interface Recent<T> {
  (text: string): T
  /** What is kept for a text; undefined if it would have to be worked out. */
  known(text: string): T | undefined
}

/**
 * What depends on a text alone, worked out once for those that come again within moments: a request is read where it is made,
 * approved and signed. What throws is not kept.
 */
export function recently<T>(work: (text: string) => T, {most, longest}: RecentOptions): Recent<T> {
  const results = new Map<string, {result: T}>()
  const recent = (text: string) => {
    const found = results.get(text)
    if (found !== undefined) return found.result
    const result = work(text)
    if (text.length > longest) return result
    if (results.size >= most) {
      const oldest = results.keys().next().value
      if (oldest !== undefined) results.delete(oldest)
    }
    results.set(text, {result})
    return result
  }
  return Object.assign(recent, {known: (text: string) => results.get(text)?.result})
}

const REQUEST = 'CERTIFICATE REQUEST'

type RequestVerdict = {request: CertificateRequest} | {why: string}

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
  if (block?.type === REQUEST) return block.bytes
  throw new TrustError('CERTIFICATE_REQUEST_INVALID', `PEM block type must be ${REQUEST}`)
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

const CERTIFICATE = 'CERTIFICATE'

/**
 * The certificate of `status.certificate`: base64 of PEM. Throws if it is not one certificate without headers and nothing else
 * that looks like PEM. Signer, server and approver read it within moments of each other.
 */
export const soleCertificateIn = recently(
  (encoded: string): Certificate => {
    const [block, ...others] = pemBlocks(Buffer.from(encoded, 'base64').toString('latin1'))
    if (block?.type !== CERTIFICATE || block.hasHeaders || others.length > 0) {
      throw new TrustError('CERTIFICATE_INVALID', 'there is not just one certificate')
    }
    return parseCertificateDer(block.bytes)
  },
  {most: 256, longest: 16 * 1024},
)

/** The first certificate of `status.certificate`, which may be followed by those of CAs. */
export function leafCertificateIn(encoded: string): Certificate {
  try {
    return soleCertificateIn(encoded)
  } catch {
    return parseCertificate(Buffer.from(encoded, 'base64').toString('latin1'))
  }
}
