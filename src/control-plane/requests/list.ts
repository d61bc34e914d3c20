import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {isUndecided, stateOf, type CsrState} from '../../csr/conditions.ts'
import {parseSpecRequest} from '../../csr/read-request.ts'
import {issuedPem, nameOf} from '../../enrollment/outcome.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {decodeRequest, readIssued, type DecodedRequest} from './decode.ts'
import {findRequests, type RequestFilter} from './find.ts'
import type {Pairing} from './pairing.ts'

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
  /** What the machine prints that made it, while it waits for a person; null afterwards. */
  pairingWords?: string | null
}

export interface RequestList {
  requests: RequestSummary[]
}

export interface SummaryOptions {
  /** Whether to decode requests and certificates too. */
  decode: boolean
  /** Makes the pairing words of those that are pending. */
  pairing?: Pairing | undefined
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

function describe(csr: CertificateSigningRequest, {decode}: SummaryOptions): RequestSummary {
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

export async function summarize(
  csr: CertificateSigningRequest,
  options: SummaryOptions,
): Promise<RequestSummary> {
  const words = await options.pairing?.(csr)
  return {...describe(csr, options), ...(words !== undefined && {pairingWords: words})}
}

/** Making words takes time on purpose: only the newest pending requests get them, which are the ones that people talk about. */
const MOST_WORDS = 50

/** The summaries of many requests, in their order: the oldest first. */
export async function summarizeAll(
  csrs: readonly CertificateSigningRequest[],
  options: SummaryOptions,
): Promise<RequestSummary[]> {
  const spoken = new Set(csrs.filter(isUndecided).slice(-MOST_WORDS))
  return await Promise.all(
    csrs.map(async (csr) =>
      spoken.has(csr) ? await summarize(csr, options) : describe(csr, options),
    ),
  )
}

export async function listRequests(
  client: Pick<ApiClient, 'csrs'>,
  filter: RequestFilter,
  options: SummaryOptions,
  clock: Clock,
): Promise<RequestList> {
  const found = await findRequests(client, filter, clock)
  return {requests: await summarizeAll(found, options)}
}
