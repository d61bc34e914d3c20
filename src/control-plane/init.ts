import {TrustError} from '../errors.ts'
import {readAuthority} from '../pki/authority.ts'
import {pinOf} from '../pki/pins.ts'
import {join} from 'node:path'
import {CATALOG} from './certificates.ts'
import {certDirOf, endpointOf, type Plane} from './config/plane.ts'
import {findPlane, savePlane} from './config/stored.ts'
import {isDeepStrictEqual} from 'node:util'
import {PHASES, type Phase, type PhaseContext} from './phases/index.ts'
import {PHASE_NAMES, type PhaseName} from './phases/names.ts'

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
  token: string | null
  joinCommand: string | null
  kubeconfig: string
  dir: string
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

/** Refuses a phase that this version has no code for, instead of pretending. */
export function requirePhase(name: PhaseName): Phase {
  const phase = PHASES.find((one) => one.name === name)
  if (phase) return phase
  throw new TrustError('USAGE', `the phase "${name}" is not part of this version`, {
    hints: [`the phases are ${PHASES.map((one) => one.name).join(', ')}`],
  })
}

async function saveIfChanged(plane: Plane): Promise<void> {
  if (!isDeepStrictEqual(await findPlane(plane.dir), plane)) await savePlane(plane)
}

/** Runs the phases one after the other. The first, preflight, comes before anything is written. */
export async function runPhases(
  phases: readonly Phase[],
  context: PhaseContext,
  {begin, end}: InitObserver,
): Promise<void> {
  for (const phase of phases) {
    begin(phase)
    if (phase.name !== 'preflight') await saveIfChanged(context.plane)
    await phase.run(context)
    end(phase)
  }
}

/** What the phases would change, by phase. Writes nothing. */
export async function planPhases(
  phases: readonly Phase[],
  context: PhaseContext,
): Promise<{phase: string; changes: string[]}[]> {
  const plans: {phase: string; changes: string[]}[] = []
  for (const phase of phases) plans.push({phase: phase.name, changes: await phase.plan(context)})
  return plans
}

export function phasesWithout(skipped: readonly PhaseName[]): Phase[] {
  return PHASES.filter(({name}) => !skipped.some((one) => one === name))
}

export async function describePlane(plane: Plane): Promise<InitResult> {
  const spec = CATALOG.authorities.find(({id}) => id === 'ca')
  const authority = spec && (await readAuthority(certDirOf(plane), spec))
  return {
    endpoint: endpointOf(plane),
    caCertHashes: authority?.bundle.map(pinOf) ?? [],
    token: null,
    joinCommand: null,
    kubeconfig: join(plane.dir, 'admin.conf'),
    dir: plane.dir,
  }
}
