import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {KUBELET_CLIENT, KUBELET_SERVING} from '../../csr/signers.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {AddressBook} from './address-book.ts'
import {readApiServer, type ApiServerReader} from './api-server.ts'
import {askAccess, type Permission} from './access-review.ts'
import {askedBy, type Asked} from './asked.ts'
import {CLIENT_APPROVERS, type ClientFacts} from './client-approvers.ts'
import {machinesWhereServed} from './machines-where-served.ts'
import type {NameClaims} from './name-rule.ts'
import {isNodeName} from './node-record.ts'
import {allHold} from './opinion.ts'
import type {ApprovalFacts} from './opinions.ts'
import {findRecord} from './record-store.ts'
import {machinesOf} from './registered.ts'
import {RequestIndex} from './request-index.ts'
import {servingSituation, type ServingSituation} from './serving-situation.ts'
import {isUnknown, type Unknown} from './unknown.ts'

type Client = ApiServerReader &
  Pick<ApiClient, 'csrs' | 'nodes' | 'leases' | 'machines' | 'subjectAccessReviews'>

export interface GatherOptions extends CallOptions {
  clock: Clock
}

/** What the caller may not read stays unknown, and the opinion says so; any other failure is one. */
async function orUnknown<T extends object>(read: Promise<T>): Promise<T | Unknown> {
  try {
    return await read
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return {unknown: messageOf(error)}
    throw error
  }
}

const findNode = (client: Client, node: string, options: CallOptions) =>
  isNodeName(node) ? client.nodes.find(node, options) : Promise.resolve(undefined)

/** There is no selector for the names that are asked for; of thousands of requests only those for this one are read. */
async function claimsOn(
  client: Client,
  csr: CertificateSigningRequest,
  asked: Asked,
  options: CallOptions,
): Promise<NameClaims> {
  const {node = '', commonName} = asked
  const [found, record, {items}] = await Promise.all([
    findNode(client, node, options),
    findRecord(client, node, options),
    client.csrs.list({...options, fieldSelector: `spec.signerName=${KUBELET_CLIENT}`}),
  ])
  const requests = new RequestIndex(client.csrs, KUBELET_CLIENT)
  for (const other of items) {
    if (commonNameIn(other.spec.request) === commonName) {
      requests.see(other.metadata.name ?? '', other)
    }
  }
  return {
    nodeExists: found !== undefined,
    record,
    approved: requests.approvedFor(node, csr.metadata.name ?? ''),
    newer: requests.newerThan(csr, asked),
  }
}

async function situationOf(
  client: Client,
  node: string,
  options: CallOptions,
): Promise<ServingSituation | Unknown> {
  const [{items: nodes}, {items: machines}, apiServer] = await Promise.all([
    client.nodes.list(options),
    machinesWhereServed(client).list(options),
    readApiServer(client, options),
  ])
  if (isUnknown(apiServer)) return apiServer
  const book = new AddressBook()
  for (const one of nodes) book.addNode(one)
  for (const one of machines) book.addMachine(one)
  return servingSituation(node, {
    found: nodes.find(({metadata}) => metadata.name === node),
    machines: machinesOf(node, machines),
    apiServer,
    book,
  })
}

async function clientFacts(
  client: Client,
  csr: CertificateSigningRequest,
  asked: Asked,
  {clock, signal}: GatherOptions,
): Promise<ApprovalFacts['client']> {
  const recognising = CLIENT_APPROVERS.filter((one) => allHold(one.recognise(csr, asked)))
  const gathered = recognising.map(
    async ({name, guardsNames}): Promise<[Permission, ClientFacts]> => {
      const [review, claims] = await Promise.all([
        orUnknown(askAccess(client, csr, name, {signal})),
        guardsNames ? orUnknown(claimsOn(client, csr, asked, {signal})) : undefined,
      ])
      return [name, {now: clock.now(), review, ...(claims === undefined ? {} : {claims})}]
    },
  )
  return Object.fromEntries(await Promise.all(gathered))
}

/** Reads what the approvers would read for one request, as far as the client may, for `opinionsOn`. */
export async function gatherFacts(
  client: Client,
  csr: CertificateSigningRequest,
  options: GatherOptions,
): Promise<ApprovalFacts> {
  const {signal} = options
  const asked = askedBy(csr)
  if (asked === undefined) return {client: {}, serving: {situation: undefined}}
  const isServing = asked.signer === KUBELET_SERVING && asked.node !== undefined
  const [forClients, situation] = await Promise.all([
    clientFacts(client, csr, asked, options),
    isServing ? orUnknown(situationOf(client, asked.node ?? '', {signal})) : undefined,
  ])
  return {client: forClients, serving: {situation}}
}
