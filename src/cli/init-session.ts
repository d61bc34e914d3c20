import {connectAsAdmin} from '../control-plane/admin.ts'
import {fileOf} from '../control-plane/config/plane.ts'
import {readConfigFile, resolvePlane} from '../control-plane/config/resolve.ts'
import {parsePhaseNames, planPhases, runPhases} from '../control-plane/init.ts'
import type {Phase, PhaseContext} from '../control-plane/phases/index.ts'
import type {PhaseName} from '../control-plane/phases/names.ts'
import {serve, type RunningPlane} from '../control-plane/serve.ts'
import type {Clock} from '../runtime.ts'
import {choicesOf, type InitFlagValues} from './init-flags.ts'
import {dirOf} from './places.ts'
import {createProgress, type Progress} from './progress.ts'
import {timestamped} from './server-log.ts'

export interface SessionFlags extends InitFlagValues {
  dir?: string | undefined
  config?: string | undefined
  'dry-run': boolean
  'skip-phases'?: string[] | undefined
  foreground?: boolean
  quiet: boolean
  verbose: boolean
}

/** One run of `init`, or of one of its phases. */
export interface InitSession {
  context: PhaseContext
  skipped: PhaseName[]
  progress: Progress
  /** The server of `--foreground`, once it runs. */
  running: () => RunningPlane | undefined
}

export async function openSession(flags: SessionFlags, clock: Clock): Promise<InitSession> {
  const progress = createProgress(flags)
  const file = flags.config === undefined ? undefined : await readConfigFile(flags.config)
  for (const warning of file?.warnings ?? []) progress.warn(warning)
  const dir = dirOf(flags.dir ?? file?.dir)
  const plane = await resolvePlane({dir, flags: choicesOf(flags), file})
  let running: RunningPlane | undefined
  return {
    progress,
    skipped: parsePhaseNames(flags['skip-phases'] ?? file?.skipPhases ?? []),
    running: () => running,
    context: {
      plane,
      clock,
      tell: progress.tell,
      warn: progress.warn,
      program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
      connect: connectAsAdmin,
      ...(flags.foreground && {
        startInForeground: async (ready) => {
          running = await serve(ready, {clock, log: timestamped(process.stderr, clock)})
        },
      }),
    },
  }
}

/** Runs the phases, or says what they would do. Answers whether anything was run. */
export async function runSession(
  {context, progress}: InitSession,
  phases: readonly Phase[],
  dryRun: boolean,
): Promise<boolean> {
  try {
    if (!dryRun) {
      await runPhases(phases, context, progress)
      return true
    }
    const plans = await planPhases(phases, context)
    for (const {phase, changes} of plans)
      for (const change of changes) progress.tell(`[${phase}] would ${change}`)
    if (plans.every(({changes}) => changes.length === 0)) progress.tell('nothing would be changed')
    progress.tell(`the configuration would be kept in ${fileOf(context.plane, 'config')}`)
    return false
  } finally {
    progress.stop()
  }
}
