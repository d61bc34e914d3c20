import type {ApiClient} from '../client/api-client.ts'
import {KUBELET_SERVING} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {AddressBook} from './approval/address-book.ts'
import {readApiServer, type ApiServerReader} from './approval/api-server.ts'
import {STRICT_POLICY, type ServingPolicy} from './approval/belief.ts'
import {isOpen, writeDecision} from './approval/decide.ts'
import {MachineIndex} from './approval/machine-index.ts'
import {NodeIndex} from './approval/node-index.ts'
import {objections} from './approval/opinion.ts'
import {RequestIndex} from './approval/request-index.ts'
import {SERVING_DENIED, SERVING_MESSAGE, servingOpinion} from './approval/serving-approver.ts'
import {servingSituation, type ServingSituation} from './approval/serving-situation.ts'
import {isUnknown, type Unknown} from './approval/unknown.ts'
import type {ControllerSpec} from './kernel/controller.ts'
import {EventReporter, csrReference} from './kernel/events.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const COMPONENT = 'kubelet-serving-approver'

/** How long what is read of the API server counts: it changes when certificates or flags do. */
const FRESH = 10_000

interface Known {
  requests: RequestIndex
  nodes: Pick<NodeIndex, 'find'>
  machines: Pick<MachineIndex, 'of'>
  book: AddressBook
}

/** Reads it once for all requests that come within moments. */
function freshly<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let known: {value: Promise<T>; since: number} | undefined
  return () => {
    const now = clock.now().getTime()
    if (known !== undefined && now - known.since < FRESH && now >= known.since) return known.value
    const value = read()
    known = {value, since: now}
    value.catch(() => (known = undefined))
    return value
  }
}

/** Approves the serving certificates of kubelets by `servingOpinion`; what it holds it says once. */
function approveKubeletServing(
  {requests, nodes, machines, book}: Known,
  writer: ApiServerReader & Pick<ApiClient, 'csrs' | 'events'>,
  clock: Clock,
  policy: () => ServingPolicy,
): Reconcile {
  const events = new EventReporter(writer, COMPONENT, clock)
  const apiServerNow = freshly(() => readApiServer(writer), clock)

  const situationOf = async (node: string): Promise<ServingSituation | Unknown> => {
    const apiServer = await apiServerNow()
    if (isUnknown(apiServer)) return apiServer
    const found = await nodes.find(node)
    return servingSituation(node, {found, machines: await machines.of(node), apiServer, book})
  }

  return async (name, signal) => {
    const request = await requests.find(name)
    if (request?.asked === undefined || request.isApproved || !isOpen(request.csr)) return DONE
    const {csr, asked} = request
    const situation = asked.node === undefined ? undefined : await situationOf(asked.node)
    const opinion = servingOpinion(csr, asked, {situation, policy: policy()})
    const message = objections(opinion)
    if (opinion.decision === 'approve') {
      const condition = {
        type: 'Approved',
        reason: 'AutoApproved',
        message: SERVING_MESSAGE,
      } as const
      if (await writeDecision(writer, csr, condition, {signal})) requests.approved(name)
    } else if (opinion.decision === 'deny') {
      await writeDecision(writer, csr, {type: 'Denied', reason: SERVING_DENIED, message}, {signal})
    } else if (opinion.reason !== undefined) {
      // Looked at again when the Node or the Machine changes.
      const happening = {type: 'Warning', reason: opinion.reason} as const
      await events.report(
        csrReference(csr),
        {...happening, message: `left pending: ${message}`},
        {signal},
      )
    }
    return situation && isUnknown(situation) ? {requeueAfter: FRESH} : DONE
  }
}

export function kubeletServingApproverController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
  policy: () => ServingPolicy = () => STRICT_POLICY,
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_SERVING)
  const affected = {of: (node: string) => requests.openFor(node), all: () => requests.open()}
  const book = new AddressBook()
  const machines = new MachineIndex(reader, affected, book)
  const nodes = new NodeIndex(reader.nodes, affected, book)
  return {
    name: COMPONENT,
    sources: [requests, machines, nodes],
    reconcile: approveKubeletServing({requests, nodes, machines, book}, writer, clock, policy),
    backoff: {first: 200, most: 1_000_000},
    workers: 16,
  }
}
