import {parseDuration} from '../bootstrap/durations.ts'
import {inputInTime, type Patience} from '../client/patience.ts'
import {withDefaultPort} from '../discovery/cluster-info.ts'
import {
  joinPatience,
  joinPhases,
  parseJoinPhases,
  runJoin,
  type JoinRequest,
} from '../node/join/join.ts'
import {findNodeFolder} from '../node/node-folder.ts'
import {ownNodeName, requireNodeName} from '../node/node-name.ts'
import type {JoinPhase, JoinSettings} from '../node/join/phase.ts'
import {requirePlainPath} from '../fs/file-checks.ts'
import {readFileSafely} from '../fs/files.ts'
import type {Clock} from '../runtime.ts'
import {onInterruption} from './interruption.ts'
import type {JoinChoices} from './join-config.ts'
import type {JoinFlagValues} from './join-flags.ts'
import {joinTokens, type JoinTokens} from './join-tokens.ts'
import {nodeDirOf} from './folders.ts'
import {createProgress, type Progress} from './progress.ts'

export interface JoinSessionFlags extends JoinFlagValues {
  'skip-phases'?: string[] | undefined
  'for-kubelet'?: boolean | undefined
  'dry-run'?: boolean | undefined
  quiet: boolean
  verbose: boolean
}

/** One run of `join`, or of one of its phases. */
export interface JoinSession {
  request: JoinRequest & {patience: Patience}
  /** The flags of a whole run. */
  phases: JoinPhase[]
  isDryRun: boolean
  isForKubelet: boolean
  progress: Progress
}

/** Flags of kubeadm that have no meaning here. */
const NOT_NEEDED = ['cri-socket', 'patches'] as const

export async function openJoinSession(
  endpoints: readonly string[],
  flags: JoinSessionFlags,
  clock: Clock,
  {isOnePhase = false} = {},
): Promise<JoinSession> {
  const verbose = flags.verbose || Number(flags.v ?? 0) > 0
  const progress = createProgress({quiet: flags.quiet, verbose})
  for (const name of NOT_NEEDED) {
    if (flags[name] !== undefined) progress.warn(`--${name} has no effect here`)
  }
  const file = flags.config === undefined ? undefined : await readFile(flags.config)
  for (const warning of file?.warnings ?? []) progress.warn(warning)
  const choices = file?.choices ?? {}
  const {ours, foreign} = parseJoinPhases(flags['skip-phases'] ?? choices.skipPhases ?? [])
  for (const name of foreign) progress.warn(`--skip-phases: there is no phase "${name}"`)
  const isForKubelet = flags['for-kubelet'] === true || choices.forKubelet === true
  const limits = {
    timeout:
      flags.timeout === undefined ? choices.timeout : parseDuration(flags.timeout, '--timeout'),
    discoveryTimeout: choices.discoveryTimeout,
    certificateTimeout: choices.certificateTimeout,
  }
  const patience = joinPatience(limits, {clock, note: progress.note})
  const tokens = await inputInTime(() => joinTokens(flags, choices, progress.warn), patience)
  const given = {
    ...limits,
    ...(await settingsOf(withPorts(endpoints, choices, progress), flags, choices, tokens)),
  }
  const settings = {...given, nodeName: await nodeNameOf(given, isOnePhase)}
  return {
    request: {
      settings,
      clock,
      patience,
      tell: progress.tell,
      note: progress.note,
      warn: progress.warn,
      input: process.stdin,
    },
    phases: joinPhases({forKubelet: isForKubelet, skipped: ours}),
    isForKubelet,
    isDryRun: flags['dry-run'] === true || choices.dryRun === true,
    progress,
  }
}

/** Without a name, a single phase continues as the node of the folder; a whole `join` uses the host name. */
async function nodeNameOf(
  {nodeName, dir, certDir}: GivenSettings,
  isOnePhase: boolean,
): Promise<string> {
  if (nodeName !== undefined) return nodeName
  const stored = isOnePhase ? await findNodeFolder(dir, certDir) : undefined
  return stored?.nodeName ?? ownNodeName()
}

/** The addresses on the command line, else those in the file. */
const withPorts = (
  endpoints: readonly string[],
  file: JoinChoices,
  {note}: Progress,
): readonly string[] =>
  (endpoints.length > 0 ? endpoints : (file.endpoints ?? [])).map((text) => {
    const complete = withDefaultPort(text)
    if (complete !== text) note(`${text} has no port: using ${complete}`)
    return complete
  })

type GivenSettings = Omit<JoinSettings, 'nodeName'> & {nodeName: string | undefined}

async function settingsOf(
  endpoints: readonly string[],
  flags: JoinFlagValues,
  file: JoinChoices,
  tokens: JoinTokens,
): Promise<GivenSettings> {
  const named = flags['node-name']
  const certDir = flags['cert-dir'] ?? file.certDir
  const caFile = flags['discovery-file-ca'] ?? file.discoveryFileCa
  return {
    dir: nodeDirOf(flags.dir ?? file.dir),
    certDir: certDir === undefined ? undefined : requirePlainPath(certDir),
    nodeName: named === undefined ? file.nodeName : requireNodeName(named),
    discovery: {
      file: flags['discovery-file'] ?? file.discoveryFile,
      fileCa: caFile === undefined ? undefined : await readText(caFile),
      token: tokens.discovery,
      endpoints,
      caCertHashes: flags['discovery-token-ca-cert-hash'] ?? file.caCertHashes,
      unsafeSkipCaVerification:
        flags['discovery-token-unsafe-skip-ca-verification'] ?? file.unsafeSkipCaVerification,
    },
    token: tokens.authentication,
    bootstrapKubeconfig: flags['bootstrap-kubeconfig'] ?? file.bootstrapKubeconfig,
    ignoredChecks: (flags['ignore-preflight-errors'] ?? file.ignoredChecks ?? []).map((name) =>
      name.toLowerCase(),
    ),
  }
}

/** Loaded only if there is a file to read. */
async function readFile(path: string) {
  const {readJoinFile} = await import('./join-config.ts')
  return await readJoinFile(path)
}

const readText = async (path: string): Promise<string> =>
  (await readFileSafely(path, {followLinks: true})).toString()

export async function runJoinSession(
  {request, progress}: JoinSession,
  phases: readonly JoinPhase[],
): Promise<void> {
  const release = onInterruption(() => {
    progress.stop()
    return 'run the command again to resume'
  })
  try {
    await runJoin(request, phases, progress)
  } finally {
    release()
    progress.stop()
  }
}
