import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Machine} from '../../api/machine.ts'
import type {Node} from '../../api/node.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {type ClientApprover, type Permission, recognise} from '../../csr/approvers.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {
  allHold,
  type ApproverOpinion,
  isUnknown,
  type RuleCode,
  type RuleVerdict,
  type Unknown,
  verdict,
} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import type {ReviewAnswer} from './access-review.ts'
import {machineOwner} from './address-book.ts'
import {type NameClaims, nameRules} from './name-rule.ts'
import type {NodeRecord} from './node-record.ts'
import {showsNewestInUse} from './previous-key.ts'
import {findRecord} from './record-store.ts'
import type {RequestIndex} from './request-index.ts'

/** What an approver of client certificates has to know beyond the request. */
export interface ClientFacts {
  now: Date
  review: ReviewAnswer | Unknown
  /** Only if the approver guards names. */
  claims?: NameClaims | Unknown
}

function accessRule(permission: Permission, review: ClientFacts['review']): RuleVerdict {
  const rule = `the requester may create certificatesigningrequests/${permission}`
  if (isUnknown(review)) return verdict('access', rule, false, `not known: ${review.unknown}`)
  const why = review.reason === '' ? '' : `: ${review.reason}`
  return verdict(
    'access',
    rule,
    review.allowed,
    review.allowed ? `allowed${why}` : `not allowed by a SubjectAccessReview${why}`,
  )
}

/** What one approver thinks, given its facts; it needs none for a request that it does not recognise. */
export function clientOpinion(
  approver: ClientApprover,
  csr: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
  requested: RequestedCertificate,
  facts: ClientFacts | undefined,
): ApproverOpinion {
  const recognised = recognise(approver, csr, requested)
  if (facts === undefined || !allHold(recognised)) {
    return {approver: approver.name, decision: 'ignore', rules: recognised}
  }
  const allowed = accessRule(approver.name, facts.review)
  const rules = [...recognised, allowed]
  if (!approver.guardsNames) return opinion(approver, rules, 'NotAllowed')
  const {claims = {unknown: 'it was not checked'}, now} = facts
  const from = {
    requester: csr.spec.username ?? '',
    revision: csr.metadata.resourceVersion ?? '',
  }
  const names = nameRules(requested, from, claims, now)
  const {code} = names.find(({holds}) => !holds) ?? {}
  const why = (code && REASONS[code]) ?? 'NodeNameTaken'
  return opinion(approver, [...rules, ...names], allowed.holds ? why : 'NotAllowed')
}

/** The words for why a request is held, by the first rule on the name that fails; otherwise the name is taken. */
const REASONS: Partial<Record<RuleCode, string>> = {
  'newest-request': 'Superseded',
  'machine-name': 'NameOfMachine',
}

function opinion({name}: ClientApprover, rules: RuleVerdict[], reason: string): ApproverOpinion {
  return allHold(rules)
    ? {approver: name, decision: 'approve', rules}
    : {approver: name, decision: 'hold', rules, reason}
}

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
  findNode: (node: string) => Promise<Node | undefined>
  findRecord: (node: string) => Promise<NodeRecord | undefined>
}

/** Reads the server's current state. */
export const currentNames = (
  client: Pick<ApiClient, 'nodes' | 'configMaps'>,
  options: CallOptions,
): NameSources => ({
  findNode: (node) => client.nodes.find(node, options),
  findRecord: (node) => findRecord(client, node, options),
})

/** Who may have the node name that a request asks for. */
export async function nameClaims(
  {findNode, findRecord: find}: NameSources,
  requests: Pick<RequestIndex, 'approvedFor' | 'newerThan'>,
  {csr, requested}: {csr: Csr; requested: RequestedCertificate},
  [machine]: readonly Machine[] = [],
): Promise<NameClaims> {
  const {node = ''} = requested
  const [found, record] = await Promise.all([
    isNodeName(node) ? findNode(node) : undefined,
    find(node),
  ])
  const isNewestUsed = record?.previous !== undefined && showsNewestInUse(found, record)
  return {
    nodeExists: found !== undefined,
    record: isNewestUsed ? {...record, previous: undefined} : record,
    approved: requests.approvedFor(node, csr.metadata.name ?? ''),
    newer: requests.newerThan(csr, requested),
    ...(machine && {machine: machineOwner(machine).name}),
  }
}
