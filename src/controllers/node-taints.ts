import type {Node, Taint} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {DONE, type ReconcileResult} from './kernel/work-queue.ts'

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const TTL = 'node.alpha.kubernetes.io/ttl'
const NO_EXECUTE = 'NoExecute'
const EFFECTS = ['NoSchedule', NO_EXECUTE]

/** The taint for a node's Ready condition; none if the node has not reported it yet. */
function wantedTaint(node: Node): string | undefined {
  const ready = node.status?.conditions?.find(({type}) => type === 'Ready')
  if (ready?.status === 'False') return NOT_READY
  return ready?.status === 'Unknown' ? UNREACHABLE : undefined
}

const isOurs = ({key, effect}: Taint) =>
  EFFECTS.includes(effect) && (key === NOT_READY || key === UNREACHABLE)

function taintsFor(node: Node, now: string): Taint[] {
  const wanted = wantedTaint(node)
  const taints = (node.spec?.taints ?? []).filter((taint) => !isOurs(taint) || taint.key === wanted)
  if (wanted === undefined) return taints
  const missing = EFFECTS.filter(
    (effect) => !taints.some((taint) => taint.key === wanted && taint.effect === effect),
  )
  return [
    ...taints,
    ...missing.map((effect) => ({
      key: wanted,
      effect,
      // As Kubernetes: only what may evict pods says since when.
      ...(effect === NO_EXECUTE && {timeAdded: now}),
    })),
  ]
}

/** Updates the taints of a node to match its Ready condition, as Kubernetes' node lifecycle controller does. */
export const taintByCondition =
  (client: Pick<ApiClient, 'nodes'>, clock: Clock) =>
  async (node: Node, signal: AbortSignal): Promise<ReconcileResult> => {
    const {name = '', annotations, resourceVersion} = node.metadata
    const taints = taintsFor(node, `${clock.now().toISOString().slice(0, 19)}Z`)
    const annotated = annotations?.[TTL] !== undefined
    if (annotated && JSON.stringify(taints) === JSON.stringify(node.spec?.taints ?? [])) return DONE
    try {
      await client.nodes.patch(
        name,
        {
          metadata: {
            resourceVersion,
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
