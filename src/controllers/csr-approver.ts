import {type Node, TRUST_REPORT} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {CLIENT_APPROVERS, recognise, type ClientApprover} from '../csr/approvers.ts'
import {allHold, isUnknown, type ApproverOpinion} from '../csr/opinion.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {RememberedReviews} from './approval/access-review.ts'
import {MachineIndex} from './approval/address-indexes.ts'
import {
  clientFacts,
  type ClientFacts,
  clientOpinion,
  currentNames,
  nameClaims,
  type NameSources,
} from './approval/client-opinion.ts'
import type {NameClaims} from './approval/name-rule.ts'
import {FollowedTokens, type TokenSecrets} from './approval/live-credential.ts'
import {ALL_RECORDS, nodeOf, readRecord, recordKey} from './approval/node-record.ts'
import {showsNewestInUse} from './approval/previous-key.ts'
import {saveNewestInUse} from './approval/record-store.ts'
import {RequestIndex} from './approval/request-index.ts'
import {RevokedCertificates, type RevocationSource} from './approval/revoked-certificates.ts'
import {ClientApproval, type Judge, type ReadableRequest} from './client-approval.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import type {SignersByName} from './signing/decide.ts'

type Writer = Pick<ApiClient, 'subjectAccessReviews' | 'nodes' | 'configMaps'>

/** Why a request waits, for the reasons that are reported as an Event. */
const REPORTED = ['NodeNameTaken', 'Superseded', 'NameOfMachine']

/**
 * Kubernetes' csrapproving controller: approves client certificates of kubelets that a SubjectAccessReview allows. In
 * addition, a taken name is not given to another key, nor that of a Machine to anybody: see `nameRules`.
 */
function judgeByAccess(
  requests: RequestIndex,
  copies: NameSources,
  machines: Pick<MachineIndex, 'of'>,
  writer: Writer,
  clock: Clock,
): Judge {
  const reviews = new RememberedReviews(writer)

  /**
   * The informer is enough for a free name: if it is out of date, reserving the name fails. Everything else is read from the
   * server.
   */
  async function claimsOn(
    request: ReadableRequest,
    {isOvertaken, signal}: Parameters<Judge>[1],
  ): Promise<NameClaims> {
    const {node = ''} = request.requested
    const vouching = await machines.of(node)
    const copied = await nameClaims(copies, requests, request, vouching)
    const isFree = copied.record === undefined && !copied.nodeExists
    if (isFree && !isOvertaken) return copied
    return await nameClaims(currentNames(writer, {signal}), requests, request, vouching)
  }

  const gather = (
    approver: ClientApprover,
    request: ReadableRequest,
    about: Parameters<Judge>[1],
  ): Promise<ClientFacts> =>
    clientFacts(approver, {
      review: (permission) => reviews.ask(request.csr, permission, {signal: about.signal}),
      claims: () => claimsOn(request, about),
      isThorough: false,
      now: clock.now(),
    })

  return async (request, about) => {
    const {csr, requested} = request
    const recognising = CLIENT_APPROVERS.filter((one) => allHold(recognise(one, csr, requested)))
    if (recognising.length === 0) return {decision: 'ignore'}
    const reports: ApproverOpinion[] = []
    for (const approver of recognising) {
      const facts = await gather(approver, request, about)
      const opinion = clientOpinion(approver, csr, requested, facts)
      if (opinion.decision === 'approve') return approval(approver, facts)
      if (opinion.reason !== undefined && REPORTED.includes(opinion.reason)) reports.push(opinion)
    }
    return {decision: 'hold', reports}
  }
}

function approval({message, guardsNames}: ClientApprover, {claims, now}: ClientFacts) {
  const decision = 'approve' as const
  if (!guardsNames) return {decision, message}
  const record = claims === undefined || isUnknown(claims) ? undefined : claims.record
  return {decision, message, name: {record, now}}
}

/** Keys of records, beside the names of requests, which have no slash. */
const RECORD = 'record/'

/** Notes in the record of a name that the node reports to use its newest certificate: a Node may be deleted, and with it what it reports. */
function noteUse(
  {findNode, findRecord}: NameSources,
  writer: Pick<ApiClient, 'configMaps'>,
): Reconcile {
  return async (key, signal) => {
    const node = key.slice(RECORD.length)
    const record = await findRecord(node)
    if (record?.previous === undefined) return DONE
    if (showsNewestInUse(await findNode(node), record)) {
      await saveNewestInUse(writer, node, record, {signal})
    }
    return DONE
  }
}

const isReporting = ({metadata}: Node): boolean =>
  metadata.annotations?.[TRUST_REPORT] !== undefined

export interface CsrApproverOptions {
  clock: Clock
  /** Those of this process. */
  signers?: Live<SignersByName> | undefined
  revocations?: RevocationSource | undefined
  /** Where the bootstrap tokens are; absent: what became of the token of a request does not matter, as in Kubernetes. */
  tokens?: TokenSecrets | undefined
}

export function csrApproverController(
  reader: ApiClient,
  writer: ApiClient,
  {clock, signers, revocations, tokens: secrets}: CsrApproverOptions,
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_CLIENT)
  const records = follow(
    reader.configMaps,
    (object) => {
      const node = nodeOf(object)
      const {previous} = readRecord(object)
      return [...requests.openFor(node), ...(previous ? [`${RECORD}${node}`] : [])]
    },
    ALL_RECORDS,
  )
  const nodes = follow(reader.nodes, (node) =>
    isReporting(node) ? [`${RECORD}${node.metadata.name ?? ''}`] : [],
  )
  const openFor = (node: string) => requests.openFor(node)
  const machines = new MachineIndex(reader, {of: openFor, all: () => []})
  const revoked = revocations && new RevokedCertificates(revocations, () => requests.open())
  const tokens = secrets && new FollowedTokens(secrets)
  const copies: NameSources = {
    findNode: (node) => nodes.find(node),
    findRecord: async (node) => {
      const {namespace, name} = recordKey(node)
      const object = await records.find(`${namespace}/${name}`)
      return object && readRecord(object)
    },
  }
  const component = 'csr-approver'
  const approving = new ClientApproval({
    component,
    judge: judgeByAccess(requests, copies, machines, writer, clock),
    requests,
    findRecord: copies.findRecord,
    writer,
    clock,
    signers,
    revoked,
    tokens,
  })
  const note = noteUse(copies, writer)
  return {
    name: component,
    sources: [
      requests,
      records,
      nodes,
      machines,
      ...[revoked, tokens].filter((one) => one !== undefined),
    ],
    reconcile: (key, signal) => (key.startsWith(RECORD) ? note : approving.reconcile)(key, signal),
    backoff: {first: 200, most: 1_000_000},
    // Each mostly waits for the server, and concurrent writes share a commit.
    workers: 64,
  }
}
