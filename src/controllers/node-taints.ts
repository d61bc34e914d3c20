import type {Node} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const TTL = 'node.alpha.kubernetes.io/ttl'
const EFFECT = 'NoSchedule'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** The taint for a node's Ready condition; none if the node has not reported it yet. */
function wantedTaint(node: Node): string | undefined {
  const ready = node.status?.conditions?.find(({type}) => type === 'Ready')
  if (ready?.status === 'False') return NOT_READY
  return ready?.status === 'Unknown' ? UNREACHABLE : undefined
}

const isOurs = ({key, effect}: Taint) =>
  effect === EFFECT && (key === NOT_READY || key === UNREACHABLE)

/** Updates the scheduling taint of a node to match its Ready condition, as Kubernetes' node lifecycle controller does. */
function taintByCondition(client: Pick<ApiClient, 'nodes'>): Reconcile {
  return async (name, signal) => {
    const node = await client.nodes.find(name, {signal})
    if (node === undefined) return DONE
    const before = node.spec?.taints ?? []
    const wanted = wantedTaint(node)
    const taints = before.filter((taint) => !isOurs(taint) || taint.key === wanted)
    if (wanted !== undefined && !taints.some(isOurs)) taints.push({key: wanted, effect: EFFECT})
    const annotated = node.metadata.annotations?.[TTL] !== undefined
    if (annotated && JSON.stringify(taints) === JSON.stringify(before)) return DONE
    try {
      await client.nodes.patch(
        name,
        {
          metadata: {
            resourceVersion: node.metadata.resourceVersion,
            ...(annotated ? {} : {annotations: {[TTL]: '0'}}),
          },
          spec: {taints},
        },
        {type: 'merge', signal},
      )
    } catch (error) {
      // Changed or deleted in the meantime: that event adds it again.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
    return DONE
  }
}

export const nodeTaintController = (reader: ApiClient, writer: ApiClient): ControllerSpec => ({
  name: 'node-controller',
  sources: [follow(reader.nodes, (_node, key) => [key])],
  reconcile: taintByCondition(writer),
})
