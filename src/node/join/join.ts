import {planDiscovery} from '../../discovery/plan.ts'
import {TrustError} from '../../errors.ts'
import {generateKeys, type KeyPair} from '../../pki/keys.ts'
import {JOIN_PHASES, type JoinContext, type JoinPhase} from './index.ts'
import {findValid, requireToken} from './prerequisites.ts'
import {JOIN_PHASE_NAMES, type JoinPhaseName} from './names.ts'
import {turnIn} from '../node-lock.ts'

/** Told as the phases go by. */
export interface JoinObserver {
  begin: (phase: Pick<JoinPhase, 'name' | 'summary'>) => void
  end: (phase: Pick<JoinPhase, 'name' | 'summary'>) => void
}

/** What `join --dry-run` prints. */
export interface JoinPlan {
  dir: string
  changes: {phase: string; change: string}[]
}

export type JoinRequest = Omit<JoinContext, 'turn' | 'freshKeys' | 'info'>

/** kubeadm's own phases of `join`, which have no meaning here. */
const KUBEADM_PHASES = [
  'check-etcd',
  'control-plane-join',
  'control-plane-prepare',
  'etcd-join',
  'kubelet-start',
  'kubelet-wait-bootstrap',
  'wait-control-plane',
]

/** Sorts the phases to leave out into ours and those that only kubeadm has; anything else is a mistake. */
export function parseJoinPhases(names: readonly string[]): {
  ours: JoinPhaseName[]
  foreign: string[]
} {
  const ours: JoinPhaseName[] = []
  const foreign: string[] = []
  for (const name of names) {
    const known = JOIN_PHASE_NAMES.find((one) => one === name)
    if (known) ours.push(known)
    else if (KUBEADM_PHASES.includes(name.split('/', 1)[0] ?? '')) foreign.push(name)
    else {
      throw new TrustError('USAGE', 'there is a phase to skip that nobody knows', {
        hints: [`the phases are ${JOIN_PHASE_NAMES.join(', ')}`],
      })
    }
  }
  return {ours, foreign}
}

/** With `--for-kubelet` the kubelet does by itself what comes after. */
export function joinPhases({
  forKubelet = false,
  skipped = [],
}: {forKubelet?: boolean; skipped?: readonly JoinPhaseName[]} = {}): JoinPhase[] {
  const left: readonly JoinPhaseName[] = forKubelet
    ? ['preflight', 'discovery', 'for-kubelet']
    : JOIN_PHASE_NAMES.filter((name) => name !== 'for-kubelet')
  return JOIN_PHASES.filter(({name}) => left.includes(name) && !skipped.includes(name))
}

export function requireJoinPhase(name: JoinPhaseName): JoinPhase {
  const phase = JOIN_PHASES.find((one) => one.name === name)
  if (phase) return phase
  throw new TrustError('INTERNAL', `the phase "${name}" has no code`)
}

/** Makes a key ahead of time where one will be needed: that takes as long as asking for cluster-info. */
function keyMaker(isNeeded: boolean): () => Promise<KeyPair> {
  let ahead = isNeeded ? generateKeys() : undefined
  ahead?.catch(() => undefined)
  return () => {
    const keys = ahead ?? generateKeys()
    ahead = undefined
    return keys
  }
}

function contextOf(request: JoinRequest, phases: readonly JoinPhase[]): JoinContext {
  return {
    ...request,
    turn: turnIn(request.settings.dir, request.note),
    freshKeys: keyMaker(phases.some(({name}) => name === 'tls-bootstrap')),
  }
}

/** What is missing on the command line is said before anything is asked. */
async function requireComplete(context: JoinContext, phases: readonly JoinPhase[]): Promise<void> {
  const names = phases.map(({name}) => name)
  if (names.includes('discovery')) planDiscovery(context.settings.discovery)
  if (context.settings.token !== undefined) return
  const isNeeded = names.includes('tls-bootstrap') && !(await findValid(context))
  if (isNeeded || names.includes('for-kubelet')) requireToken(context)
}

/** Runs the phases one after the other. Nothing is written before a cluster is found that may be trusted. */
export async function runJoin(
  request: JoinRequest,
  phases: readonly JoinPhase[],
  {begin, end}: JoinObserver = {begin: () => undefined, end: () => undefined},
): Promise<void> {
  const context = contextOf(request, phases)
  await requireComplete(context, phases)
  try {
    for (const phase of phases) {
      begin(phase)
      await phase.run(context)
      end(phase)
    }
  } finally {
    await context.turn.release()
  }
}

/** What the phases would change, by phase. Asks the cluster, and writes nothing. */
export async function planJoin(
  request: JoinRequest,
  phases: readonly JoinPhase[],
): Promise<JoinPlan> {
  const context = contextOf(request, [])
  await requireComplete(context, phases)
  const changes: JoinPlan['changes'] = []
  for (const phase of phases) {
    for (const change of await phase.plan(context)) changes.push({phase: phase.name, change})
  }
  return {dir: request.settings.dir, changes}
}
