import {patienceFor, timeLeft, type Patience} from '../../client/patience.ts'
import {SharedConnections} from '../../client/shared-connections.ts'
import {planDiscovery} from '../../discovery/plan.ts'
import {
  planPhases,
  requirePhaseName,
  runPhases,
  type PhaseObserver,
  type Plan,
} from '../../phases.ts'
import {generateKeys, type KeyPair} from '../../pki/keys.ts'
import {TrustError} from '../../errors.ts'
import {findCertDir, requireKubeletsCertDir, usedCertDir} from '../cert-dir.ts'
import {isKubeletsFolder} from '../node-files.ts'
import {joinLock} from '../node-lock.ts'
import {cleanup} from './cleanup.ts'
import {discovery} from './discovery.ts'
import {forKubelet, kubeconfig} from './kubeconfig.ts'
import {JOIN_PHASE_NAMES, type JoinPhaseName} from './names.ts'
import {
  discoveryOf,
  findCredential,
  findValid,
  type JoinContext,
  type JoinPhase,
  type JoinSettings,
  requireCredential,
} from './phase.ts'
import {preflight} from './preflight.ts'
import {register} from './register-node.ts'
import {tlsBootstrap} from './tls-bootstrap.ts'

export interface JoinRequest extends Omit<
  JoinContext,
  'certDir' | 'isKubelets' | 'connections' | 'lock' | 'freshKeys' | 'info' | 'patience'
> {
  /** Of a command that has begun before; else it begins now. */
  patience?: Patience
}

/** A deadline for the whole command if the user has given one, else a time for each step. */
export function joinPatience(
  {timeout, discoveryTimeout}: Pick<JoinSettings, 'timeout' | 'discoveryTimeout'>,
  {clock, note}: Pick<JoinContext, 'clock' | 'note'>,
): Patience {
  const retryFor = timeout ?? discoveryTimeout
  const onWait: Patience['onWait'] = ({message}) => note(`waiting: ${message}`)
  return patienceFor({timeout, clock, onWait, retryFor, retryBusyFor: retryFor})
}

export const JOIN_PHASES: Readonly<Record<JoinPhaseName, JoinPhase>> = {
  preflight,
  discovery,
  'for-kubelet': forKubelet,
  'tls-bootstrap': tlsBootstrap,
  kubeconfig,
  'register-node': register,
  cleanup,
}

/** kubeadm's own phases of `join`, which do not exist here. */
const KUBEADM_PHASES = [
  'check-etcd',
  'control-plane-join',
  'control-plane-prepare',
  'etcd-join',
  'kubelet-start',
  'kubelet-wait-bootstrap',
  'wait-control-plane',
]

/** Sorts the phases to skip into ours and those that only kubeadm has; anything else is an error. */
export function parseJoinPhases(names: readonly string[]): {
  ours: JoinPhaseName[]
  foreign: string[]
} {
  const ours: JoinPhaseName[] = []
  const foreign: string[] = []
  for (const name of names) {
    if (KUBEADM_PHASES.includes(name.split('/', 1)[0] ?? '')) foreign.push(name)
    else ours.push(requirePhaseName(name, JOIN_PHASE_NAMES))
  }
  return {ours, foreign}
}

/** With `--for-kubelet`, the kubelet does the rest. */
export function joinPhases({
  forKubelet = false,
  skipped = [],
}: {forKubelet?: boolean; skipped?: readonly JoinPhaseName[]} = {}): JoinPhase[] {
  const names: readonly JoinPhaseName[] = forKubelet
    ? ['preflight', 'discovery', 'for-kubelet']
    : JOIN_PHASE_NAMES.filter((name) => name !== 'for-kubelet')
  return names.filter((name) => !skipped.includes(name)).map((name) => JOIN_PHASES[name])
}

/** Generates a key ahead of time if one will be needed: it takes as long as reading cluster-info. */
function keyMaker(isNeeded: boolean): () => Promise<KeyPair> {
  let ahead = isNeeded ? generateKeys() : undefined
  ahead?.catch(() => undefined)
  return () => {
    const keys = ahead ?? generateKeys()
    ahead = undefined
    return keys
  }
}

async function contextOf(request: JoinRequest, phases: readonly JoinPhase[]): Promise<JoinContext> {
  const {dir, certDir, timeout, certificateTimeout} = request.settings
  const patience = request.patience ?? joinPatience(request.settings, request)
  return {
    ...request,
    certDir: await findCertDir(dir, certDir),
    // With a pair that nobody manages yet, it is the folder of a machine that is being set up.
    isKubelets: (await isKubeletsFolder(dir)) && (await usedCertDir(dir)) !== undefined,
    connections: new SharedConnections(),
    patience,
    lock: joinLock(dir, request.note, () => timeLeft(patience) ?? timeout ?? certificateTimeout),
    freshKeys: keyMaker(phases.some(({name}) => name === 'tls-bootstrap')),
  }
}

/** Reports what is missing on the command line before any request is sent. */
async function requireComplete(context: JoinContext, phases: readonly JoinPhase[]): Promise<void> {
  const names = phases.map(({name}) => name)
  if (context.isKubelets) await requireFitting(context, names)
  if (names.includes('discovery')) planDiscovery(discoveryOf(context.settings))
  if (await findCredential(context)) return
  const isNeeded = names.includes('tls-bootstrap') && !(await findValid(context))
  if (isNeeded || names.includes('for-kubelet')) await requireCredential(context)
}

/** What a kubelet has set up stays its own: `--for-kubelet` would make it trustadm's, and then replace its kubelet.conf. */
async function requireFitting(
  {settings: {dir}, certDir}: JoinContext,
  phases: readonly JoinPhaseName[],
): Promise<void> {
  await requireKubeletsCertDir(dir, certDir)
  if (!phases.includes('for-kubelet')) return
  throw new TrustError('CONFLICT', `a kubelet has joined from ${dir} already`, {
    hints: [
      'leave out --for-kubelet: then the kubelet keeps its key and its files, and is restarted',
      'or, if this machine is to start anew, run "kubeadm reset" first',
    ],
  })
}

/** Runs the phases. Nothing is written before the cluster is known to be the right one. */
export async function runJoin(
  request: JoinRequest,
  phases: readonly JoinPhase[],
  observer: PhaseObserver = {begin: () => undefined, end: () => undefined},
): Promise<void> {
  const context = await contextOf(request, phases)
  await requireComplete(context, phases)
  try {
    await runPhases(phases, context, observer)
  } finally {
    await context.connections.close()
    await context.lock.release()
  }
}

/** What the phases would change. Reads from the cluster, and writes nothing. */
export async function planJoin(request: JoinRequest, phases: readonly JoinPhase[]): Promise<Plan> {
  const context = await contextOf(request, [])
  await requireComplete(context, phases)
  try {
    return {dir: request.settings.dir, changes: await planPhases(phases, context)}
  } finally {
    await context.connections.close()
  }
}
