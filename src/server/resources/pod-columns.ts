import type {Column} from '../kernel/resource.ts'
import {AGE, column, firstNonEmpty, humanDuration, NAME, orNone, wideColumn} from './define.ts'
import type {ContainerState, ContainerStatus, Pod} from '../../api/pod.ts'

interface Summary {
  ready: number
  total: number
  reason: string
  restarts: number
  lastRestart: number
}

function endText(terminated: NonNullable<ContainerState['terminated']>): string {
  if (terminated.reason) return terminated.reason
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`
}

const lastEnd = ({lastState}: ContainerStatus) =>
  lastState?.terminated?.finishedAt ? Date.parse(lastState.terminated.finishedAt) : 0

const hasCondition = ({status}: Pod, type: string) =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') === true

/** A container that starts before the others and keeps running. */
const isSidecar = ({spec}: Pod, name: string | undefined) =>
  spec?.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always') === true

function initialReason({status}: Pod): string {
  const gated = status?.conditions?.some(
    ({type, reason}) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  return gated ? 'SchedulingGated' : firstNonEmpty(status?.reason, status?.phase)
}

/** The first container that still initializes determines what the pod waits for. */
function initReason(pod: Pod, {state}: ContainerStatus, index: number): string {
  if (state?.terminated) return `Init:${endText(state.terminated)}`
  const waiting = state?.waiting?.reason
  if (waiting && waiting !== 'PodInitializing') return `Init:${waiting}`
  return `Init:${index}/${pod.spec?.initContainers?.length ?? 0}`
}

function initialize(pod: Pod, summary: Summary): {done: boolean; sidecars: Summary} {
  const sidecars = {...summary, restarts: 0, lastRestart: 0}
  for (const [index, container] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const sidecar = isSidecar(pod, container.name)
    const parts = sidecar ? [summary, sidecars] : [summary]
    for (const part of parts) {
      part.restarts += container.restartCount ?? 0
      part.lastRestart = Math.max(part.lastRestart, lastEnd(container))
    }
    const {terminated} = container.state ?? {}
    if (terminated && (terminated.exitCode ?? 0) === 0) continue
    if (sidecar && container.started === true) {
      if (container.ready === true) summary.ready += 1
      continue
    }
    summary.reason = initReason(pod, container, index)
    return {done: false, sidecars}
  }
  return {done: true, sidecars}
}

/** The first container with a problem determines the pod's status. */
function runs(pod: Pod, summary: Summary): void {
  let running = false
  for (const container of (pod.status?.containerStatuses ?? []).toReversed()) {
    const {waiting, terminated, running: started} = container.state ?? {}
    summary.restarts += container.restartCount ?? 0
    summary.lastRestart = Math.max(summary.lastRestart, lastEnd(container))
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated) summary.reason = endText(terminated)
    else if (container.ready === true && started) {
      running = true
      summary.ready += 1
    }
  }
  if (summary.reason !== 'Completed' || !running) return
  summary.reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
}

/** Counts containers and describes a pod's status as Kubernetes' printer does. */
function summarize(pod: Pod): Summary {
  const sidecars = pod.spec?.initContainers?.filter(({restartPolicy}) => restartPolicy === 'Always')
  const total = (pod.spec?.containers?.length ?? 0) + (sidecars?.length ?? 0)
  const summary = {ready: 0, total, reason: initialReason(pod), restarts: 0, lastRestart: 0}
  const start = initialize(pod, summary)
  if (start.done || hasCondition(pod, 'Initialized')) {
    summary.restarts = start.sidecars.restarts
    summary.lastRestart = start.sidecars.lastRestart
    runs(pod, summary)
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    const over = ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')
    if (pod.status?.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (!over) summary.reason = 'Terminating'
  }
  return summary
}

function restartsText(pod: Pod, now: Date): string {
  const {restarts, lastRestart} = summarize(pod)
  return restarts > 0 && lastRestart > 0
    ? `${restarts} (${humanDuration(now.getTime() - lastRestart)} ago)`
    : String(restarts)
}

function gatesText(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  const open = gates.filter(({conditionType = ''}) => hasCondition(pod, conditionType))
  return gates.length === 0 ? '<none>' : `${open.length}/${gates.length}`
}

export const podColumns: Column<Pod>[] = [
  NAME,
  column('Ready', 'How many of its containers are ready.', (pod) => {
    const {ready, total} = summarize(pod)
    return `${ready}/${total}`
  }),
  column('Status', 'What it does, or what keeps it from that.', (pod) => summarize(pod).reason),
  column('Restarts', 'How often its containers were started again.', restartsText),
  AGE,
  wideColumn('IP', 'Its first address.', ({status}) =>
    orNone(firstNonEmpty(status?.podIPs?.[0]?.ip, status?.podIP)),
  ),
  wideColumn('Node', 'The node it is on.', ({spec}) => orNone(spec?.nodeName)),
  wideColumn('Nominated Node', 'The node that makes room for it.', ({status}) =>
    orNone(status?.nominatedNodeName),
  ),
  wideColumn('Readiness Gates', 'How many of its gates are open.', gatesText),
]
