import type {Node, NodeCondition, Taint} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {type ControllerSpec, follow, type Source} from './kernel/controller.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'
import {HEARTBEAT_NAMESPACE, NodeHeartbeats} from './node-heartbeats.ts'

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
const taintByCondition =
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

/** How often silent nodes are looked for, as --node-monitor-period. */
const PERIOD = 5000
/** The key of the check of all nodes; no node can have this name. */
const CHECK = '/'
/** What a kubelet reports. */
const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

const isUnknown = ({status}: NodeCondition) => status === 'Unknown'

/** The conditions of a node that nobody has heard of, as Kubernetes writes them; none if it says so already. */
function unknownConditions(node: Node, now: string): NodeCondition[] {
  const found = (type: string) => node.status?.conditions?.find((one) => one.type === type)
  return CONDITIONS.flatMap((type): NodeCondition[] => {
    const condition = found(type)
    if (condition && isUnknown(condition)) return []
    const reported = {reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.'}
    const never = {
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      ...(node.metadata.creationTimestamp && {lastHeartbeatTime: node.metadata.creationTimestamp}),
    }
    return [{type, status: 'Unknown', ...(condition ? reported : never), lastTransitionTime: now}]
  })
}

type Writer = Pick<ApiClient, 'nodes'>

/**
 * Kubernetes' node lifecycle controller: a node that is silent for 40 s becomes Unknown, and its taints follow its Ready condition. A
 * kubelet that returns reports itself Ready.
 */
export function watchOver(writer: Writer, heartbeats: NodeHeartbeats, clock: Clock): Reconcile {
  const taint = taintByCondition(writer, clock)
  return async (name, signal) => {
    const node = await writer.nodes.find(name, {signal})
    if (node === undefined) {
      heartbeats.forget(name)
      return DONE
    }
    const now = `${clock.now().toISOString().slice(0, 19)}Z`
    const conditions = heartbeats.isOverdue(name) ? unknownConditions(node, now) : []
    if (conditions.length === 0) return await taint(node, signal)
    const {resourceVersion} = node.metadata
    try {
      await writer.nodes.patch(
        name,
        {metadata: {resourceVersion}, status: {conditions}},
        {type: 'strategic', subresource: 'status', signal},
      )
    } catch (error) {
      // Changed or deleted in the meantime: that event adds it again.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
    return DONE
  }
}

const checks: Source = {
  start({enqueue}) {
    enqueue(CHECK)
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
}

export function nodeLifecycleController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec {
  const heartbeats = new NodeHeartbeats(clock)
  const nodes = follow(reader.nodes, (node, key) => {
    heartbeats.noteNode(node)
    return [key]
  })
  const leases = follow(
    reader.leases,
    (lease) => {
      heartbeats.noteLease(lease)
      return []
    },
    {namespace: HEARTBEAT_NAMESPACE},
  )
  const one = watchOver(writer, heartbeats, clock)
  return {
    name: 'node-controller',
    sources: [nodes, leases, checks],
    reconcile: async (key, signal) => {
      if (key !== CHECK) return await one(key, signal)
      for (const name of heartbeats.overdue(PERIOD)) await one(name, signal)
      return {requeueAfter: PERIOD}
    },
  }
}
