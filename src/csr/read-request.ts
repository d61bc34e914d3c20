import {messageOf} from '../errors.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {parseRequestDer, requestSubject, type CertificateRequest} from '../pki/request.ts'
import {isSignedBySync} from '../pki/signatures.ts'

const LABEL = 'CERTIFICATE REQUEST'

export type RequestVerdict = {request: CertificateRequest} | {why: string}

const firstBlock = (encoded: string | undefined) =>
  pemBlocks(Buffer.from(encoded ?? '', 'base64').toString('latin1'))[0]

/** The common name that spec.request asks for, to find the few requests among many that are worth reading. */
export function commonNameIn(encoded: string | undefined): string | undefined {
  const block = firstBlock(encoded)
  return block && requestSubject(block.bytes)?.commonName
}

const MOST_RECENT = 256
/** Honest requests are far shorter; text around a block may make one as long as a body may be. */
const LONGEST_KEPT = 16 * 1024
/** A request is read where it is made, approved and signed, mostly within moments; what it says depends on its text alone. */
const recent = new Map<string, RequestVerdict>()

/** Reads spec.request and leaves the signature unchecked: for whoever knows that it was checked, or checks it elsewhere. */
export function parseSpecRequest(encoded = ''): RequestVerdict {
  const known = recent.get(encoded)
  if (known !== undefined) return known
  const verdict = parseEncoded(encoded)
  if ('why' in verdict || encoded.length > LONGEST_KEPT) return verdict
  const [oldest] = recent.keys()
  if (recent.size >= MOST_RECENT && oldest !== undefined) recent.delete(oldest)
  recent.set(encoded, verdict)
  return verdict
}

function parseEncoded(encoded: string): RequestVerdict {
  const block = firstBlock(encoded)
  if (block?.type !== LABEL) return {why: `PEM block type must be ${LABEL}`}
  try {
    return {request: parseRequestDer(block.bytes)}
  } catch (error) {
    return {why: messageOf(error)}
  }
}

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
