import type {Node, NodeCondition} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {follow, type ControllerSpec, type Source} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import {HEARTBEAT_NAMESPACE, NodeHeartbeats} from './node-heartbeats.ts'
import {taintByCondition} from './node-taints.ts'

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
