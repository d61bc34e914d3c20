import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import type {ClientApprover, Permission} from '../../csr/approvers.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {isUnknown, type Unknown} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import type {ReviewAnswer} from './access-review.ts'
import type {ClientFacts} from './client-opinion.ts'
import type {NameClaims} from './name-rule.ts'
import type {NodeRecord} from './node-record.ts'
import {findRecord} from './record-store.ts'
import type {RequestIndex} from './request-index.ts'

type Csr = CertificateSigningRequest

/** How the facts about a client certificate are found, by the approver and by `certificate show`. */
export interface ClientSources {
  review: (permission: Permission) => Promise<ReviewAnswer | Unknown>
  claims: () => Promise<NameClaims | Unknown>
  /** Whether to find out who has the name even if the requester has no permission anyway. */
  isThorough: boolean
  now: Date
}

export async function clientFacts(
  {name, guardsNames}: ClientApprover,
  {review: ask, claims, isThorough, now}: ClientSources,
): Promise<ClientFacts> {
  const review = await ask(name)
  const isRefused = !isUnknown(review) && !review.allowed
  if (!guardsNames || (isRefused && !isThorough)) return {now, review}
  return {now, review, claims: await claims()}
}

/** How to look up whether a name is taken. */
export interface NameSources {
  hasNode: (node: string) => Promise<boolean>
  findRecord: (node: string) => Promise<NodeRecord | undefined>
}

/** Reads the server's current state. */
export const currentNames = (
  client: Pick<ApiClient, 'nodes' | 'leases'>,
  options: CallOptions,
): NameSources => ({
  hasNode: async (node) => (await client.nodes.find(node, options)) !== undefined,
  findRecord: (node) => findRecord(client, node, options),
})

/** Who may have the node name that a request asks for. */
export async function nameClaims(
  {hasNode, findRecord: find}: NameSources,
  requests: Pick<RequestIndex, 'approvedFor' | 'newerThan'>,
  {csr, requested}: {csr: Csr; requested: RequestedCertificate},
): Promise<NameClaims> {
  const {node = ''} = requested
  const [nodeExists, record] = await Promise.all([
    isNodeName(node) ? hasNode(node) : false,
    find(node),
  ])
  return {
    nodeExists,
    record,
    approved: requests.approvedFor(node, csr.metadata.name ?? ''),
    newer: requests.newerThan(csr, requested),
  }
}
