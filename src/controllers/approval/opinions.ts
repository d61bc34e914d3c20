import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {
  CLIENT_APPROVERS,
  MACHINE_APPROVER,
  SERVING_APPROVER,
  recognise,
} from '../../csr/approvers.ts'
import {
  allHold,
  isUnknown,
  verdict,
  type ApproverOpinion,
  type RuleVerdict,
} from '../../csr/opinion.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_SERVING} from '../../csr/signers.ts'
import type {Clock} from '../../runtime.ts'
import {askAccess} from './access-review.ts'
import {AddressBook} from './address-book.ts'
import {readApiServer} from './api-server.ts'
import {clientFacts, currentNames, nameClaims, type ClientSources} from './client-facts.ts'
import {clientOpinion} from './client-opinion.ts'
import {credentialRule, withCredentialRule} from './live-credential.ts'
import {machineOpinionOn} from './machine-reading.ts'
import {
  clientRequests,
  indexOf,
  orUnknown,
  type Looking,
  type OpinionReader,
  type Request,
} from './opinion-reader.ts'
import {machinesWhereServed} from './optional-apis.ts'
import {
  readRevocationList,
  revokedRule,
  unknownRevocation,
  withRevokedRule,
} from './revoked-certificates.ts'
import {servingOpinion} from './serving-opinion.ts'
import {machinesOf, servingSituation, type ServingSources} from './serving-situation.ts'

type Csr = CertificateSigningRequest

const clientSources = (request: Request, {client, all, now, options}: Looking): ClientSources => ({
  review: (permission) => orUnknown(askAccess(client, request.csr, permission, options)),
  claims: () =>
    orUnknown(
      all().then((requests) =>
        nameClaims(
          currentNames(client, options),
          indexOf(client, requests, [request.requested.node ?? '']),
          request,
        ),
      ),
    ),
  isThorough: true,
  now,
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

async function servingSources(
  client: OpinionReader,
  options: CallOptions,
): Promise<ServingSources> {
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
  client: OpinionReader,
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

async function revokedRuleOn(
  client: OpinionReader,
  {csr, requested}: Request,
  options: CallOptions,
): Promise<RuleVerdict> {
  const list = await orUnknown(readRevocationList(client, options))
  return isUnknown(list) ? unknownRevocation(list) : revokedRule(list, csr, requested)
}

/** What each approver thinks of a request, by the rules and facts that the controllers decide by, as far as the client may read them. */
export async function approverOpinions(
  client: OpinionReader,
  csr: Csr,
  {clock, ...options}: CallOptions & {clock: Clock},
): Promise<ApproverOpinion[]> {
  const requested = requestedCertificate(csr)
  if (requested === undefined) {
    const found = 'it is not one certificate request'
    const rules = [verdict('readable', 'the request can be read', false, found)]
    return [...CLIENT_APPROVERS, MACHINE_APPROVER, SERVING_APPROVER].map(({name: approver}) => ({
      approver,
      decision: 'ignore',
      rules,
    }))
  }
  const request = {csr, requested}
  const looking = {client, all: clientRequests(client, options), now: clock.now(), options}
  const [forClients, machine, serving] = await Promise.all([
    clientOpinions(request, clientSources(request, looking)),
    machineOpinionOn(request, looking),
    servingOpinionOn(client, request, options),
  ])
  const [revoked, credential] = await Promise.all([
    revokedRuleOn(client, request, options),
    credentialRule(client, csr, options),
  ])
  return [...forClients, machine, serving].map((opinion) =>
    withRevokedRule(withCredentialRule(opinion, credential), revoked),
  )
}
