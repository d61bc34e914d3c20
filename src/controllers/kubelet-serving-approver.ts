import type {ApiClient} from '../client/api-client.ts'
import {SERVING_APPROVER} from '../csr/approvers.ts'
import {isOpen} from '../csr/conditions.ts'
import {isUnknown, objections} from '../csr/opinion.ts'
import {KUBELET_SERVING} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {AddressBook} from './approval/address-book.ts'
import {MachineIndex, NodeIndex} from './approval/address-indexes.ts'
import {readApiServer} from './approval/api-server.ts'
import {indexOf, orUnknown} from './approval/opinion-reader.ts'
import {findRecord} from './approval/record-store.ts'
import {STRICT_POLICY, type ServingPolicy} from './approval/belief.ts'
import {RequestIndex} from './approval/request-index.ts'
import {RevokedCertificates, type RevocationSource} from './approval/revoked-certificates.ts'
import {SERVING_DENIED, servingOpinion} from './approval/serving-opinion.ts'
import {nameGiven, servingSituation, type ServingSources} from './approval/serving-situation.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {EventReporter, csrReference} from './kernel/events.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import {writeDecision} from './kernel/write-outcome.ts'

const COMPONENT = 'kubelet-serving-approver'

/** How long facts about the API server are cached: they change only with its certificates or flags. */
const FRESH = 10_000

/** Reads them once for all requests that arrive together. */
function freshly<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let last: {value: Promise<T>; since: number} | undefined
  return () => {
    const now = clock.now().getTime()
    if (last !== undefined && now - last.since < FRESH && now >= last.since) return last.value
    const value = read()
    last = {value, since: now}
    value.catch(() => (last = undefined))
    return value
  }
}

interface ApproveOptions {
  clock: Clock
  policy: () => ServingPolicy
  revoked?: RevokedCertificates | undefined
}

/** Approves the serving certificates of kubelets by `servingOpinion`. If one has to wait, it reports the reason once. */
function approveKubeletServing(
  requests: RequestIndex,
  sources: ServingSources,
  writer: Pick<ApiClient, 'csrs' | 'events'>,
  {clock, policy, revoked}: ApproveOptions,
): Reconcile {
  const events = new EventReporter(writer, COMPONENT, clock)

  return async (name, signal) => {
    const request = await requests.find(name)
    if (request?.requested === undefined || request.isApproved || !isOpen(request.csr)) return DONE
    const {csr, requested} = request
    const {node} = requested
    const situation = node === undefined ? undefined : await servingSituation(node, sources)
    const opinion =
      (await revoked?.opinionOn(SERVING_APPROVER.name, csr, requested)) ??
      servingOpinion(csr, requested, {situation, policy: policy()})
    const message = objections(opinion)
    if (opinion.decision === 'approve') {
      const condition = {
        type: 'Approved',
        reason: 'AutoApproved',
        message: SERVING_APPROVER.message,
      } as const
      if (await writeDecision(writer, csr, condition, {signal})) requests.approved(csr)
    } else if (opinion.decision === 'deny') {
      await writeDecision(writer, csr, {type: 'Denied', reason: SERVING_DENIED, message}, {signal})
    } else if (opinion.reason !== undefined) {
      // Checked again when the Node or the Machine changes.
      const happening = {type: 'Warning', reason: opinion.reason} as const
      await events.report(
        csrReference(csr),
        {...happening, message: `left pending: ${message}`},
        {signal},
      )
    }
    if (situation === undefined || opinion.decision !== 'hold') return DONE
    // A new API server is not known at once.
    const mayChange =
      isUnknown(situation) ||
      situation.asApiServer?.size === 0 ||
      (situation.keeps !== undefined && isUnknown(situation.keeps.given))
    return mayChange ? {requeueAfter: FRESH} : DONE
  }
}

export interface ServingApproverOptions {
  clock: Clock
  policy?: (() => ServingPolicy) | undefined
  revocations?: RevocationSource | undefined
}

export function kubeletServingApproverController(
  reader: ApiClient,
  writer: ApiClient,
  {clock, policy = () => STRICT_POLICY, revocations}: ServingApproverOptions,
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_SERVING)
  const revoked = revocations && new RevokedCertificates(revocations, () => requests.open())
  const affected = {of: (node: string) => requests.openFor(node), all: () => requests.open()}
  const book = new AddressBook()
  const machines = new MachineIndex(reader, affected, book)
  const nodes = new NodeIndex(reader.nodes, affected, book)
  // The watch of all requests is shared: it has shown what gave the name away before it shows what was asked for with that.
  const all = follow(reader.csrs, () => [])
  const given = async (node: string) => {
    const issued = indexOf(reader, await all.list(), [node]).issuedFor(node)
    return nameGiven(node, await findRecord(writer, node), issued, clock.now())
  }
  const sources: ServingSources = {
    apiServer: freshly(() => readApiServer(writer, {settings: policy().settings}), clock),
    findNode: (node) => nodes.find(node),
    machinesOf: (node) => machines.of(node),
    given: (node) => orUnknown(given(node)),
    book,
  }
  return {
    name: COMPONENT,
    sources: [requests, all, machines, nodes, ...(revoked ? [revoked] : [])],
    reconcile: approveKubeletServing(requests, sources, writer, {clock, policy, revoked}),
    backoff: {first: 200, most: 1_000_000},
    workers: 16,
  }
}
