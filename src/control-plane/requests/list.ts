import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {isMissingObject} from '../../client/status-errors.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import {parseSpecRequest} from '../../csr/read-request.ts'
import {issuedPem, nameOf} from '../../enrollment/outcome.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {decodeRequest, type DecodedRequest} from './decode.ts'
import {matcherOf, selectOf, type RequestFilter} from './filter.ts'
import {readIssued} from './issued.ts'

/** A request, as `certificate list` tells of it. */
export interface RequestSummary {
  name: string
  created: string | null
  signer: string
  requester: string
  /** Null where the signer is to choose. */
  requestedSeconds: number | null
  state: CsrState
  /** Only where it was asked for: reading ten thousand requests takes its time. */
  request?: DecodedRequest | null
  /** When its certificate expires; null without one. */
  expires?: string | null
}

export interface RequestList {
  requests: RequestSummary[]
}

export interface SummaryOptions {
  /** Whether what was asked for and issued is read too. */
  decode: boolean
}

/** The signature was checked by the server when the request was made, and is by `certificate show`: a list goes without. */
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

export async function getRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  name: string,
): Promise<CertificateSigningRequest> {
  try {
    return await csrs.get({name})
  } catch (error) {
    if (!isMissingObject(error)) throw error
    throw new TrustError('NOT_FOUND', `there is no certificate request "${printable(name)}"`, {
      cause: error,
      facts: {name},
      hints: ['"trustadm certificate list" shows all of them'],
    })
  }
}

/** The requests of a cluster that the filter lets through, oldest first, as kubectl would list them by age. */
export async function findRequests(
  {csrs}: Pick<ApiClient, 'csrs'>,
  filter: RequestFilter,
  clock: Clock,
): Promise<CertificateSigningRequest[]> {
  const {items} = await csrs.list(selectOf(filter))
  return items.filter(matcherOf(filter, clock.now())).sort(byAge)
}

const createdAt = ({metadata}: CertificateSigningRequest): string =>
  metadata.creationTimestamp ?? ''

/** Kubernetes' times are all in one form, so that their texts sort as they do. */
function byAge(one: CertificateSigningRequest, other: CertificateSigningRequest): number {
  const [left, right] = [createdAt(one), createdAt(other)]
  if (left !== right) return left < right ? -1 : 1
  return nameOf(one) < nameOf(other) ? -1 : 1
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
