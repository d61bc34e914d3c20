import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import {parseSpecRequest} from '../../csr/read-request.ts'
import {issuedPem, nameOf} from '../../enrollment/outcome.ts'
import type {Clock} from '../../runtime.ts'
import {decodeRequest, readIssued, type DecodedRequest} from './decode.ts'
import {findRequests, type RequestFilter} from './find.ts'

/** A request, as `certificate list` shows it. */
export interface RequestSummary {
  name: string
  created: string | null
  signer: string
  requester: string
  /** Null for the signer's default. */
  requestedSeconds: number | null
  state: CsrState
  /** Only on demand: decoding ten thousand requests takes time. */
  request?: DecodedRequest | null
  /** When its certificate expires; null without one. */
  expires?: string | null
}

export interface RequestList {
  requests: RequestSummary[]
}

export interface SummaryOptions {
  /** Whether to decode requests and certificates too. */
  decode: boolean
}

/** The server checked the signature when the request was created, and `certificate show` checks it again: a list does not. */
function decoded({spec}: CertificateSigningRequest): DecodedRequest | null {
  const verdict = parseSpecRequest(spec.request)
  return 'request' in verdict ? decodeRequest(verdict.request) : null
}

function expiration(csr: CertificateSigningRequest): string | null {
  const pem = issuedPem(csr)
  const issued = pem === undefined ? undefined : readIssued(pem)
  return issued && 'certificate' in issued ? formatTimestamp(issued.certificate.notAfter) : null
}

export function summarize(
  csr: CertificateSigningRequest,
  {decode}: SummaryOptions,
): RequestSummary {
  const {spec, metadata} = csr
  return {
    name: nameOf(csr),
    created: metadata.creationTimestamp ?? null,
    signer: spec.signerName,
    requester: spec.username ?? '',
    requestedSeconds: spec.expirationSeconds ?? null,
    state: stateOf(csr),
    ...(decode && {request: decoded(csr), expires: expiration(csr)}),
  }
}

export async function listRequests(
  client: Pick<ApiClient, 'csrs'>,
  filter: RequestFilter,
  options: SummaryOptions,
  clock: Clock,
): Promise<RequestList> {
  const found = await findRequests(client, filter, clock)
  return {requests: found.map((csr) => summarize(csr, options))}
}
