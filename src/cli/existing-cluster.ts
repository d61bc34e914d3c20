import {findControllers, type FoundControllers} from '../control-plane/existing/controllers.ts'
import {
  describeExisting,
  EXISTING_PHASE_NAMES,
  EXISTING_PHASES,
  type ExistingPhaseName,
  type ExistingResult,
  requireCa,
} from '../control-plane/existing/init.ts'
import {TrustError} from '../errors.ts'
import {planPhases, requirePhaseName, runPhases, type Plan} from '../phases.ts'
import type {Clock} from '../runtime.ts'
import {existingFlags, type ExistingFlagValues} from './existing-flags.ts'
import {initTokenFlags, tokensFor} from './init-token.ts'
import {createProgress, type Progress} from './progress.ts'
import {clusterCommand} from './same-cluster.ts'
import {withCluster} from './with-cluster.ts'

const USABLE: readonly string[] = [
  ...Object.keys(existingFlags),
  ...Object.keys(initTokenFlags),
  ...['skip-phases', 'dry-run', 'output', 'quiet', 'verbose'],
  // It has a default, and is of use only with --systemd, which is refused.
  'unit-dir',
]

/** All flags but these describe a new control plane. */
function refuseOthers(flags: object): void {
  const isGiven = (value: unknown) => value !== undefined && value !== false
  const others = Object.entries(flags).filter(
    ([name, value]) => isGiven(value) && !USABLE.includes(name),
  )
  if (others.length === 0) return
  const names = others.map(([name]) => `--${name}`).join(', ')
  throw new TrustError(
    'USAGE',
    `${names} cannot be used with --kubeconfig, which prepares an existing cluster`,
    {hints: [`leave out --kubeconfig to create a control plane on this machine, or ${names}`]},
  )
}

/** The phases that work with any cluster, without those that are skipped. */
export function existingPhases(skipped: readonly string[] = []): ExistingPhaseName[] {
  const names = skipped.map((name) => requirePhaseName(name, EXISTING_PHASE_NAMES))
  return EXISTING_PHASE_NAMES.filter((name) => !names.includes(name))
}

/** The name of a phase that works with any cluster. */
export function requireExistingPhase(name: string): ExistingPhaseName {
  const found = EXISTING_PHASE_NAMES.find((one) => one === name)
  if (found !== undefined) return found
  throw new TrustError(
    'USAGE',
    `the phase "${name}" works only with a control plane on this machine`,
    {hints: [`with --kubeconfig the phases are ${EXISTING_PHASE_NAMES.join(', ')}`]},
  )
}

/** A command line for the cluster that is prepared. */
export const existingCommand = (
  {kubeconfig, context, cluster, user}: ExistingFlagValues,
  command: string,
): string => clusterCommand({kubeconfig, context, cluster, user}, command)

async function withContext<Result>(
  flags: ExistingFlagValues,
  clock: Clock,
  work: (session: ExistingSession) => Promise<Result>,
): Promise<Result> {
  refuseOthers(flags)
  const progress = createProgress(flags)
  const {tell, warn} = progress
  const tokens = await tokensFor(flags, undefined, warn, clock)
  const commandFor = (command: string) => existingCommand(flags, command)
  return await withCluster(flags, async ({client, access}) =>
    work({
      context: {client, access: requireCa(access), clock, tell, warn, tokens, commandFor},
      progress,
    }),
  )
}

interface ExistingSession {
  context: Parameters<(typeof EXISTING_PHASES)['rbac']['run']>[0]
  progress: Progress
}

/** What the phases would change in the cluster. */
export const planExisting = (
  flags: ExistingFlagValues,
  names: readonly ExistingPhaseName[],
  clock: Clock,
): Promise<Plan> =>
  withContext(flags, clock, async ({context}) => ({
    dir: flags.kubeconfig,
    changes: await planPhases(
      names.map((name) => EXISTING_PHASES[name]),
      context,
    ),
  }))

/** The phases that need controllers: the others say nothing about them. */
const FOR_CONTROLLERS: readonly ExistingPhaseName[] = ['cluster-info', 'bootstrap-token']

function tellControllers(
  {missing, unchecked}: FoundControllers,
  {warn, note}: Progress,
  verbose: boolean,
): void {
  for (const {controller, reason, command} of missing)
    warn(`nobody runs ${controller} in this cluster: ${reason}; run ours with "${command}"`)
  for (const {controller, reason} of unchecked.filter(({isUsual}) => verbose || !isUsual))
    note(`cannot tell whether somebody runs ${controller} in this cluster: ${reason}`)
}

/** Runs the phases, and looks whether the cluster has the controllers that joining needs. */
export const prepareExisting = (
  flags: ExistingFlagValues,
  names: readonly ExistingPhaseName[],
  clock: Clock,
): Promise<ExistingResult> =>
  withContext(flags, clock, async ({context, progress}) => {
    try {
      await runPhases(
        names.map((name) => EXISTING_PHASES[name]),
        context,
        progress,
      )
    } finally {
      progress.stop()
    }
    const {kubeconfig, verbose} = flags
    const {client, commandFor} = context
    const controllers = names.some((name) => FOR_CONTROLLERS.includes(name))
      ? await findControllers(client, {tokenId: context.joinToken?.token.id, commandFor, clock})
      : {missing: [], unchecked: []}
    tellControllers(controllers, progress, verbose)
    const showsToken = !flags['skip-token-print']
    return describeExisting(context, {kubeconfig, showsToken, controllers})
  })
