import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {CLIENT_APPROVERS, SERVING_APPROVER, recognise} from '../../csr/approvers.ts'
import {allHold, verdict, type ApproverOpinion, type Unknown} from '../../csr/opinion.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {requestedCertificate, type RequestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT, KUBELET_SERVING} from '../../csr/signers.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {askAccess} from './access-review.ts'
import {AddressBook} from './address-book.ts'
import {readApiServer, type ApiServerReader} from './api-server.ts'
import {clientFacts, currentNames, nameClaims, type ClientSources} from './client-facts.ts'
import {clientOpinion} from './client-opinion.ts'
import {machinesWhereServed} from './optional-apis.ts'
import {RequestIndex} from './request-index.ts'
import {servingOpinion} from './serving-opinion.ts'
import {machinesOf, servingSituation, type ServingSources} from './serving-situation.ts'

type Csr = CertificateSigningRequest
type Client = ApiServerReader &
  Pick<ApiClient, 'csrs' | 'nodes' | 'leases' | 'machines' | 'subjectAccessReviews'>

interface Request {
  csr: Csr
  requested: RequestedCertificate
}

/** What the caller may not read stays unknown, and the opinion says so. Any other failure is thrown. */
async function orUnknown<T extends object>(read: Promise<T>): Promise<T | Unknown> {
  try {
    return await read
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return {unknown: messageOf(error)}
    throw error
  }
}

/** The API has no selector for the requested names. Of thousands of requests only those for this name are parsed. */
async function requestsFor(
  {csrs}: Client,
  {commonName}: RequestedCertificate,
  options: CallOptions,
): Promise<RequestIndex> {
  const fieldSelector = `spec.signerName=${KUBELET_CLIENT}`
  const {items} = await csrs.list({...options, fieldSelector})
  const requests = new RequestIndex(csrs, KUBELET_CLIENT)
  for (const other of items) {
    if (commonNameIn(other.spec.request) === commonName) {
      requests.see(other.metadata.name ?? '', other)
    }
  }
  return requests
}

const clientSources = (
  client: Client,
  request: Request,
  {clock, ...options}: CallOptions & {clock: Clock},
): ClientSources => ({
  review: (permission) => orUnknown(askAccess(client, request.csr, permission, options)),
  claims: () =>
    orUnknown(
      requestsFor(client, request.requested, options).then((requests) =>
        nameClaims(currentNames(client, options), requests, request),
      ),
    ),
  isThorough: true,
  now: clock.now(),
})

async function clientOpinions(
  {csr, requested}: Request,
  sources: ClientSources,
): Promise<ApproverOpinion[]> {
  const opinions = CLIENT_APPROVERS.map(async (approver) => {
    const isRecognised = allHold(recognise(approver, csr, requested))
    const facts = isRecognised ? await clientFacts(approver, sources) : undefined
    return clientOpinion(approver, csr, requested, facts)
  })
  return await Promise.all(opinions)
}

async function servingSources(client: Client, options: CallOptions): Promise<ServingSources> {
  const [{items: nodes}, {items: machines}] = await Promise.all([
    client.nodes.list(options),
    machinesWhereServed(client).list(options),
  ])
  const book = new AddressBook()
  for (const one of nodes) book.addNode(one)
  for (const one of machines) book.addMachine(one)
  return {
    apiServer: () => readApiServer(client, options),
    findNode: (node) => Promise.resolve(nodes.find(({metadata}) => metadata.name === node)),
    machinesOf: (node) => Promise.resolve(machinesOf(node, machines)),
    book,
  }
}

async function servingOpinionOn(
  client: Client,
  {csr, requested}: Request,
  options: CallOptions,
): Promise<ApproverOpinion> {
  const {signer, node} = requested
  const situation =
    signer === KUBELET_SERVING && node !== undefined
      ? await orUnknown(
          servingSources(client, options).then((sources) => servingSituation(node, sources)),
        )
      : undefined
  return servingOpinion(csr, requested, {situation})
}

/** What each approver thinks of a request, by the rules and facts that the controllers decide by, as far as the client may read them. */
export async function approverOpinions(
  client: Client,
  csr: Csr,
  {clock, ...options}: CallOptions & {clock: Clock},
): Promise<ApproverOpinion[]> {
  const requested = requestedCertificate(csr)
  if (requested === undefined) {
    const found = 'it is not one certificate request'
    const rules = [verdict('readable', 'the request can be read', false, found)]
    return [...CLIENT_APPROVERS, SERVING_APPROVER].map(({name: approver}) => ({
      approver,
      decision: 'ignore',
      rules,
    }))
  }
  const request = {csr, requested}
  const [forClients, serving] = await Promise.all([
    clientOpinions(request, clientSources(client, request, {clock, ...options})),
    servingOpinionOn(client, request, options),
  ])
  return [...forClients, serving]
}
