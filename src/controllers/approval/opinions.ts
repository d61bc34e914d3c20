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
  type Unknown,
} from '../../csr/opinion.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_SERVING, KUBELET_CLIENT} from '../../csr/signers.ts'
import type {Clock} from '../../runtime.ts'
import type {Machine} from '../../api/machine.ts'
import {askAccess} from './access-review.ts'
import {AddressBook} from './address-book.ts'
import {readApiServer} from './api-server.ts'
import {
  clientFacts,
  clientOpinion,
  type ClientSources,
  currentNames,
  nameClaims,
} from './client-opinion.ts'
import {credentialRule, tokenRule, withCredentialRule, readLiveness} from './live-credential.ts'
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
import {
  machinesOf,
  nameGiven,
  servingSituation,
  type NameGiven,
  type ServingSources,
} from './serving-situation.ts'
import {isBootstrappers, machineSituation, type MachineSources} from './machine-facts.ts'
import {machineOpinion, mostPending} from './machine-opinion.ts'
import {dnsNamesOf} from './machine-window.ts'
import {RecentRequests} from './recent-requests.ts'
import {findRecord} from './record-store.ts'

type Csr = CertificateSigningRequest

const clientSources = (request: Request, {client, all, now, options}: Looking): ClientSources => ({
  review: (permission) => orUnknown(askAccess(client, request.csr, permission, options)),
  claims: () =>
    orUnknown(
      Promise.all([all(), machinesWhereServed(client).list(options)]).then(
        ([requests, {items: machines}]) => {
          const {node = ''} = request.requested
          const index = indexOf(client, requests, [node])
          const names = currentNames(client, options)
          return nameClaims(names, index, request, machinesOf(node, machines))
        },
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

async function givenNow(node: string, {client, all, now, options}: Looking): Promise<NameGiven> {
  const [record, requests] = await Promise.all([findRecord(client, node, options), all()])
  return nameGiven(node, record, indexOf(client, requests, [node]).issuedFor(node), now)
}

async function servingSources(looking: Looking): Promise<ServingSources> {
  const {client, options} = looking
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
    given: (node) => orUnknown(givenNow(node, looking)),
    book,
  }
}

async function servingOpinionOn(
  {csr, requested}: Request,
  looking: Looking,
): Promise<ApproverOpinion> {
  const {signer, node} = requested
  const situation =
    signer === KUBELET_SERVING && node !== undefined
      ? await orUnknown(servingSources(looking).then((sources) => servingSituation(node, sources)))
      : undefined
  return servingOpinion(csr, requested, {situation})
}

async function revokedRuleOn(
  client: OpinionReader,
  {csr, requested}: Request,
  options: CallOptions,
): Promise<RuleVerdict> {
  const list = await orUnknown(readRevocationList(client, options))
  if (isUnknown(list)) return unknownRevocation(list)
  const rule = revokedRule(list, csr, requested, (node) => findRecord(client, node, options))
  const found = await orUnknown(rule)
  return isUnknown(found) ? unknownRevocation(found) : found
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
    servingOpinionOn(request, looking),
  ])
  const [revoked, credential, token] = await Promise.all([
    revokedRuleOn(client, request, options),
    credentialRule(client, csr, options),
    tokenRuleOn(client, csr, looking),
  ])
  return [
    ...forClients.map((opinion) => withCredentialRule(opinion, token)),
    ...[machine, serving],
  ].map((opinion) => withRevokedRule(withCredentialRule(opinion, credential), revoked))
}

/** Whoever may not read tokens is not told; one that is only simulated has none. */
async function tokenRuleOn(
  client: OpinionReader,
  {spec, metadata}: Csr,
  {now, options}: Looking,
): Promise<RuleVerdict | undefined> {
  if (metadata.uid === undefined) return undefined
  const rule = await orUnknown(
    tokenRule((key) => client.secrets.find(key, options), spec, now).then((found) => ({found})),
  )
  return isUnknown(rule) ? undefined : rule.found
}

/** The Machines, or why there are none to decide by. */
async function inventory({client, options}: Looking): Promise<Machine[] | Unknown> {
  let isServed = true
  const machines = machinesWhereServed(client, () => (isServed = false))
  const {items} = await machines.list(options)
  return isServed ? items : {unknown: 'the cluster does not serve Machines'}
}

/** What the machine approver thinks of a request. */
async function machineOpinionOn(request: Request, looking: Looking): Promise<ApproverOpinion> {
  const {csr, requested} = request
  const {client, all, now, options} = looking
  const isOurs = requested.signer === KUBELET_CLIENT && isBootstrappers(csr)
  if (!isOurs) return machineOpinion(csr, requested, undefined)
  const found = await orUnknown(
    Promise.all([inventory(looking), all(), readLiveness(client, options)]),
  )
  if (isUnknown(found)) return heldBy(found)
  const [machines, requests, isLive] = found
  if (isUnknown(machines)) return heldBy(machines)
  const recent = new RecentRequests()
  for (const one of requests) recent.see(one.metadata.name ?? '', one)
  const pending = {count: recent.count(now, isLive), most: mostPending(machines.length)}
  const sources: MachineSources = {
    names: currentNames(client, options),
    liveness: () => Promise.resolve(isLive),
    machinesNamed: (dns) =>
      Promise.resolve(machines.filter((one) => dnsNamesOf(one).includes(dns))),
    requestsFor: (nodes) => Promise.resolve(indexOf(client, requests, nodes)),
  }
  const situation = await orUnknown(machineSituation(request, sources, now))
  return machineOpinion(csr, requested, {now, pending, situation})

  function heldBy(situation: Unknown): ApproverOpinion {
    return machineOpinion(csr, requested, {now, pending: {count: 0, most: 0}, situation})
  }
}
