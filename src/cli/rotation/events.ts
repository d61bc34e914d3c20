import type {Action, Phase} from '../../control-plane/ca-rotation/journal.ts'
import type {RotationReport} from '../../control-plane/ca-rotation/report.ts'
import type {Remaining} from './remaining.ts'

/** A line of `ca rotate status --watch --output json`. */
export type RotationEvent = {time: string} & (
  | {event: 'step'; action: Action; step: string; summary: string; state: 'running' | 'done'}
  | {
      event: 'waiting'
      action: Action
      /** Nodes that have followed, of all. */
      nodes: {done: number; total: number}
      /** Everyone who still depends on the CAs that are about to go. */
      waitingFor: string[]
      /** Null if it is not known. */
      remainingSeconds: number | null
    }
  | {event: 'finished'; phase: Phase | null; isReady: boolean; waitingFor: string[]}
)

const MOST_NAMES = 100

const namesOf = ({dependents, stillTrusting}: RotationReport): string[] => {
  const waitedFor = [...dependents, ...stillTrusting.filter(({isWaitedFor}) => isWaitedFor)]
  return [...new Set(waitedFor.map(({name}) => name))].slice(0, MOST_NAMES)
}

const isSame = (one: RotationReport | undefined, other: RotationReport): boolean =>
  one !== undefined &&
  one.action === other.action &&
  one.nodes?.done === other.nodes?.done &&
  one.nodes?.total === other.nodes?.total &&
  namesOf(one).join() === namesOf(other).join()

/** What has changed between two looks at a rotation. The first look shows everything. */
export function eventsBetween(
  before: RotationReport | undefined,
  after: RotationReport,
  {now, remaining}: {now: Date; remaining: Remaining},
): RotationEvent[] {
  const time = now.toISOString()
  const {action, steps, nodes = {done: 0, total: 0}} = after
  const events: RotationEvent[] = []
  const known = new Map(
    before?.action === action ? before?.steps.map(({id, state}) => [id, state]) : [],
  )
  for (const {id: step, summary, state} of steps) {
    if (action === undefined || state === 'waiting' || known.get(step) === state) continue
    events.push({time, event: 'step', action, step, summary, state})
  }
  // Once everything is over, a report has no steps.
  if (action === undefined && before?.action !== undefined && before.action !== 'start') {
    for (const {id: step, summary, state} of before.steps) {
      if (state === 'done') continue
      events.push({time, event: 'step', action: before.action, step, summary, state: 'done'})
    }
  }
  const left = remaining.observe(nodes.done, nodes.total, now)
  if (after.isSettled) {
    const phase = after.credentials.rotation.certificateAuthorities?.phase ?? null
    const {isReady} = after
    return [...events, {time, event: 'finished', phase, isReady, waitingFor: namesOf(after)}]
  }
  if (action !== undefined && namesOf(after).length > 0 && !isSame(before, after)) {
    const remainingSeconds = left ?? null
    events.push({
      time,
      event: 'waiting',
      action,
      nodes,
      waitingFor: namesOf(after),
      remainingSeconds,
    })
  }
  return events
}
