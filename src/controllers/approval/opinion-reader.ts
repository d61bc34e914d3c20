import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {nodeUser} from '../../csr/node-names.ts'
import type {Unknown} from '../../csr/opinion.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {ApiServerReader} from './api-server.ts'
import {RequestIndex} from './request-index.ts'

type Csr = CertificateSigningRequest
/** What opinions are read with: the caller's own rights. */
export type OpinionReader = ApiServerReader &
  Pick<ApiClient, 'csrs' | 'nodes' | 'machines' | 'configMaps' | 'secrets' | 'subjectAccessReviews'>

export interface Request {
  csr: Csr
  requested: RequestedCertificate
}

/** One look at a request, by lists and single reads. */
export interface Looking {
  client: OpinionReader
  /** All requests for the client certificates of kubelets. */
  all: () => Promise<Csr[]>
  now: Date
  options: CallOptions
}

/** What the caller may not read stays unknown, and the opinion says so. Any other failure is thrown. */
export async function orUnknown<T extends object>(read: Promise<T>): Promise<T | Unknown> {
  try {
    return await read
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return {unknown: messageOf(error)}
    throw error
  }
}

/** Everyone's requests for the client certificates of kubelets, listed once for all that look at them. */
export function clientRequests({csrs}: OpinionReader, options: CallOptions): () => Promise<Csr[]> {
  let listed: Promise<Csr[]> | undefined
  const list = async () => {
    const fieldSelector = `spec.signerName=${KUBELET_CLIENT}`
    return (await csrs.list({...options, fieldSelector})).items
  }
  return () => (listed ??= list())
}

/** The API has no selector for the requested names. Of thousands of requests only those for these names are parsed. */
export function indexOf(
  {csrs}: Pick<OpinionReader, 'csrs'>,
  all: readonly Csr[],
  nodes: readonly string[],
): RequestIndex {
  const wanted = new Set<string | undefined>(nodes.map(nodeUser))
  const requests = new RequestIndex(csrs, KUBELET_CLIENT)
  for (const other of all) {
    if (wanted.has(commonNameIn(other.spec.request))) requests.see(other.metadata.name ?? '', other)
  }
  return requests
}
