import {messageOf} from '../errors.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {parseRequestDer, type CertificateRequest} from '../pki/request.ts'
import {isSignedBySync} from '../pki/signatures.ts'

const LABEL = 'CERTIFICATE REQUEST'

export type RequestVerdict = {request: CertificateRequest} | {why: string}

/** Reads spec.request and leaves the signature unchecked: for whoever knows that it was checked, or checks it elsewhere. */
export function parseSpecRequest(encoded: string | undefined): RequestVerdict {
  const [block] = pemBlocks(Buffer.from(encoded ?? '', 'base64').toString('latin1'))
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
