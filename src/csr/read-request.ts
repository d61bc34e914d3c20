import {TrustError, messageOf} from '../errors.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {
  parseKeptRequestDer,
  parseRequestDer,
  requestSubject,
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
const parseKept = recently((encoded) => parseKeptRequestDer(requireBlock(encoded)), RECENT)

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
export const parseKeptRequest = (encoded = ''): RequestVerdict =>
  verdictOf(() => parseKept(encoded))

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
