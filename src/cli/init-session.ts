import {connectAsAdmin} from '../control-plane/admin.ts'
import {withStored, type ClusterSigning} from '../control-plane/config/cluster-signing.ts'
import {requireEncryption} from '../control-plane/config/etcd.ts'
import type {Plane} from '../control-plane/config/plane.ts'
import {findPlane} from '../control-plane/config/stored.ts'
import {readConfigFile, resolvePlane} from '../control-plane/config/resolve.ts'
import {runInit} from '../control-plane/init/init.ts'
import {INIT_PHASE_NAMES, type InitPhaseName} from '../control-plane/init/names.ts'
import type {InitContext, InitPhase} from '../control-plane/init/phase.ts'
import {serve, type RunningPlane} from '../control-plane/serve.ts'
import {requirePhaseName} from '../phases.ts'
import type {Clock} from '../runtime.ts'
import {choicesOf, type InitFlagValues} from './init-flags.ts'
import {tokensFor, type InitTokenFlagValues} from './init-token.ts'
import {dirOf} from './folders.ts'
import {onInterruption} from './interruption.ts'
import {createProgress, type Progress} from './progress.ts'
import {ownProgram} from './own-program.ts'
import {openServerLog} from './server-log.ts'
import {readSigningFlags} from './signing-flags.ts'
import {readCertificateKey, type UploadFlagValues} from './upload-flags.ts'

export interface SessionFlags extends InitFlagValues, InitTokenFlagValues, UploadFlagValues {
  dir?: string | undefined
  config?: string | undefined
  'skip-phases'?: string[] | undefined
  replace?: boolean
  foreground?: boolean
  systemd?: boolean
  'unit-dir'?: string
  quiet: boolean
  verbose: boolean
}

/** One run of `init`, or of one of its phases. */
export interface InitSession {
  context: InitContext
  skipped: InitPhaseName[]
  progress: Progress
  /** The requested control plane, with the settings of now. */
  resolve: () => Promise<Plane>
  /** The server of `--foreground`, once it runs. */
  running: () => RunningPlane | undefined
}

export async function openSession(flags: SessionFlags, clock: Clock): Promise<InitSession> {
  const progress = createProgress(flags)
  const file = flags.config === undefined ? undefined : await readConfigFile(flags.config)
  for (const warning of file?.warnings ?? []) progress.warn(warning)
  const dir = dirOf(flags.dir ?? file?.dir)
  const choices = {...choicesOf(flags), ...(await signingChoice(flags, dir))}
  const resolve = async () => {
    const plane = await resolvePlane({dir, flags: choices, file})
    requireEncryption(plane.settings, (await findPlane(dir))?.settings)
    return plane
  }
  const tokens = await tokensFor(flags, file?.bootstrapTokens, progress.warn, clock)
  let running: RunningPlane | undefined
  return {
    progress,
    resolve,
    skipped: (flags['skip-phases'] ?? file?.skipPhases ?? []).map((name) =>
      requirePhaseName(name, INIT_PHASE_NAMES),
    ),
    running: () => running,
    context: {
      plane: await resolve(),
      clock,
      tell: progress.tell,
      warn: progress.warn,
      program: ownProgram(),
      connect: connectAsAdmin,
      tokens,
      certificateKey: await readCertificateKey(flags['certificate-key']),
      replacesBrought: flags.replace === true,
      ...(flags.systemd && {systemd: {unitDir: flags['unit-dir'] ?? ''}}),
      ...(flags.foreground && {
        startInForeground: async (ready) => {
          const {rotationDuties} = await import('../control-plane/ca-rotation/duties.ts')
          const log = openServerLog({clock})
          running = await serve(ready, {clock, log, ...rotationDuties(ready, {clock, log})})
        },
      }),
    },
  }
}

/** Flags win over the file and over what an earlier run has stored, one by one. */
async function signingChoice(
  flags: SessionFlags,
  dir: string,
): Promise<{clusterSigning?: ClusterSigning}> {
  const given = await readSigningFlags(flags)
  const isGiven = given.files ?? given.duration ?? Object.keys(given.filesOf)[0]
  if (isGiven === undefined) return {}
  return {clusterSigning: withStored(given, (await findPlane(dir))?.settings.clusterSigning)}
}

export async function runSession(
  {context, progress, resolve}: InitSession,
  phases: readonly InitPhase[],
): Promise<void> {
  const release = onInterruption(() => {
    progress.stop()
    return 'run the command again to resume'
  })
  try {
    await runInit(phases, context, progress, resolve)
  } finally {
    release()
    progress.stop()
  }
}
