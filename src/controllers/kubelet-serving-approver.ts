import type {ApiClient} from '../client/api-client.ts'
import {KUBELET_SERVING} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {isOpen, writeDecision} from './approval/decide.ts'
import {MachineIndex} from './approval/machine-index.ts'
import {isNodeName} from './approval/node-record.ts'
import {objections} from './approval/opinion.ts'
import {voucherFor} from './approval/registered.ts'
import {RequestIndex} from './approval/request-index.ts'
import {SERVING_DENIED, SERVING_MESSAGE, servingOpinion} from './approval/serving-approver.ts'
import {follow, type ControllerSpec} from './controller.ts'
import {EventReporter, csrReference} from './events.ts'
import {DONE, type Reconcile} from './work-queue.ts'

export interface ServingPolicy {
  /** Deny what asks for more than is registered, or is wrong in itself, instead of leaving it to a person. A kubelet asks anew. */
  deny: boolean
}

const COMPONENT = 'kubelet-serving-approver'

/** Approves the serving certificates of kubelets by `servingOpinion`; what it holds it says once. */
function approveKubeletServing(
  requests: RequestIndex,
  machines: Pick<MachineIndex, 'of'>,
  writer: Pick<ApiClient, 'csrs' | 'nodes' | 'events'>,
  clock: Clock,
  {deny}: ServingPolicy,
): Reconcile {
  const events = new EventReporter(writer, COMPONENT, clock)

  return async (name, signal) => {
    const request = await requests.find(name)
    if (request?.asked === undefined || request.isApproved || !isOpen(request.csr)) return DONE
    const {csr, asked} = request
    const node = asked.node
    const voucher =
      node === undefined
        ? undefined
        : voucherFor(node, {
            node: isNodeName(node) ? await writer.nodes.find(node, {signal}) : undefined,
            machines: await machines.of(node),
          })
    const opinion = servingOpinion(csr, asked, {voucher, deny})
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
    return DONE
  }
}

export function kubeletServingApproverController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
  policy: ServingPolicy = {deny: false},
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_SERVING)
  const machines = new MachineIndex(reader, (node) => requests.openFor(node))
  const nodes = follow(reader.nodes, (_node, name) => requests.openFor(name))
  return {
    name: COMPONENT,
    sources: [requests, machines, nodes],
    reconcile: approveKubeletServing(requests, machines, writer, clock, policy),
    backoff: {first: 200, most: 1_000_000},
    workers: 16,
  }
}
