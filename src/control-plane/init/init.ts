import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import {formatToken} from '../../bootstrap/token.ts'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../pki/file-checks.ts'
import {pinOf} from '../../pki/pins.ts'
import {findClusterAuthority} from '../certificates.ts'
import {endpointOf, fileOf, type Plane} from '../config/plane.ts'
import {findPlane, savePlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {PHASES, type Phase, type PhaseContext} from './index.ts'
import {PHASE_NAMES, type PhaseName} from './names.ts'
import {joinCommand} from '../tokens/join-command.ts'

/** Told as the phases go by. */
export interface InitObserver {
  begin: (phase: Phase) => void
  end: (phase: Phase) => void
}

/** What `init --output json` prints. */
export interface InitResult {
  endpoint: string
  /** SPKI pins of the cluster's CAs, as `--discovery-token-ca-cert-hash` takes them. */
  caCertHashes: string[]
  /** Null with `--skip-token-print`, and where no token was made. */
  token: string | null
  joinCommand: string | null
  kubeconfig: string
  dir: string
}

export interface PlannedChange {
  phase: string
  change: string
}

/** What `init --dry-run` prints. */
export interface InitPlan {
  dir: string
  changes: PlannedChange[]
}

export function parsePhaseNames(names: readonly string[]): PhaseName[] {
  return names.map((name) => {
    const known = PHASE_NAMES.find((one) => one === name)
    if (known) return known
    throw new TrustError('USAGE', `there is no phase "${name}"`, {
      hints: [`the phases are ${PHASE_NAMES.join(', ')}`],
    })
  })
}

export function requirePhase(name: PhaseName): Phase {
  const phase = PHASES.find((one) => one.name === name)
  if (phase) return phase
  throw new TrustError('INTERNAL', `the phase "${name}" has no code`)
}

async function saveIfChanged(plane: Plane): Promise<void> {
  if (!isDeepStrictEqual(await findPlane(plane.dir), plane)) await savePlane(plane)
}

/** Writes nothing, and comes before anything that does. */
const isCheck = ({name}: Phase): boolean => name === 'preflight'

/** Runs the phases one after the other. The first, preflight, comes before anything is written. */
export async function runPhases(
  phases: readonly Phase[],
  context: PhaseContext,
  {begin, end}: InitObserver,
): Promise<void> {
  for (const phase of phases) {
    begin(phase)
    if (!isCheck(phase)) await saveIfChanged(context.plane)
    await phase.run(context)
    end(phase)
  }
}

/**
 * Runs the phases in turn with other commands. `resolve` is asked for the control plane again once it is our turn: another run may
 * have picked the port and made the CAs meanwhile. Where nothing is there yet, an unfit machine is found before a lock is made.
 */
export async function runInTurn(
  phases: readonly Phase[],
  context: PhaseContext,
  observer: InitObserver,
  resolve: () => Promise<Plane>,
): Promise<void> {
  const checks = phases.filter(isCheck)
  if (checks.length === phases.length) return await runPhases(phases, context, observer)
  const {dir} = context.plane
  if (!(await lookAt(dir))) await planPhases(checks, context)
  await exclusively(
    dir,
    async () => {
      context.plane = await resolve()
      await runPhases(phases, context, observer)
    },
    context.tell,
  )
}

/** What the phases would change, by phase. Writes nothing. */
export async function planPhases(
  phases: readonly Phase[],
  context: PhaseContext,
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = []
  for (const phase of phases) {
    for (const change of await phase.plan(context)) changes.push({phase: phase.name, change})
  }
  return changes
}

/** What `init` would do, for `--dry-run`. */
export async function planInit(phases: readonly Phase[], context: PhaseContext): Promise<InitPlan> {
  const {plane} = context
  const changes = await planPhases(phases, context)
  const isSaved = phases.every(isCheck) || isDeepStrictEqual(await findPlane(plane.dir), plane)
  const saving = {phase: 'configuration', change: `keep the settings in ${fileOf(plane, 'config')}`}
  return {dir: plane.dir, changes: isSaved ? changes : [saving, ...changes]}
}

export function phasesWithout(skipped: readonly PhaseName[]): Phase[] {
  return PHASES.filter(({name}) => !skipped.some((one) => one === name))
}

/** `token` is left out where nobody shall see it, or where none was made. */
export async function describePlane(plane: Plane, token?: BootstrapTokenInfo): Promise<InitResult> {
  const authority = await findClusterAuthority(plane)
  const endpoint = endpointOf(plane)
  const caCertHashes = authority?.bundle.map(pinOf) ?? []
  return {
    endpoint,
    caCertHashes,
    token: token ? formatToken(token.token) : null,
    joinCommand: token ? joinCommand({server: endpoint, caCertHashes}, token) : null,
    kubeconfig: join(plane.dir, 'admin.conf'),
    dir: plane.dir,
  }
}
