import {parseDuration} from '../bootstrap/durations.ts'
import {parseUsages} from '../bootstrap/token-info.ts'
import {readConfigFile} from '../control-plane/config/resolve.ts'
import {
  completeToken,
  createToken,
  noteOf,
  type WantedToken,
} from '../control-plane/tokens/create.ts'
import {reportCreated, type CreatedTokens} from '../control-plane/tokens/created.ts'
import {isClusterInfoPublished} from '../control-plane/tokens/cluster-info-published.ts'
import {joinCommand, joinTarget, requireForJoining} from '../control-plane/tokens/join-command.ts'
import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import type {ClusterFlagValues} from './cluster.ts'
import {createProgress, type Progress} from './progress.ts'
import {clusterCommand} from './same-cluster.ts'
import {readToken} from './token-source.ts'
import {withCluster} from './with-cluster.ts'

export interface CreateTokenFlags extends ClusterFlagValues {
  token: string | undefined
  'token-file': string | undefined
  usages: string[] | undefined
  ttl: string | undefined
  description: string | undefined
  groups: string[] | undefined
  config: string | undefined
  'print-join-command': boolean | undefined
  'allow-weak': boolean | undefined
  'dry-run': boolean | undefined
  quiet: boolean
  verbose: boolean
}

/** Creates the tokens that the flags of `token create` describe. All of them are checked before the first is stored. */
export async function createTokens(flags: CreateTokenFlags, clock: Clock): Promise<CreatedTokens> {
  const progress = createProgress(flags)
  const dryRun = flags['dry-run'] ?? false
  const infos = (await wantedTokens(flags, progress)).map((wanted) =>
    completeToken(wanted, clock.now(), {allowWeak: flags['allow-weak']}),
  )
  const [first] = infos
  if (flags['print-join-command'] && first) requireForJoining(first)
  return await withCluster(flags, async ({client, access}) => {
    const line =
      flags['print-join-command'] && first ? joinCommand(joinTarget(access), first) : undefined
    for (const info of infos) await createToken(client, info, {dryRun})
    const notes = infos
      .map((info) => noteOf(info, clock.now(), (command) => clusterCommand(flags, command)))
      .filter((note) => note !== undefined)
    const note = notes.find(({isWarning}) => isWarning) ?? notes[0]
    if (note && !dryRun) (note.isWarning ? progress.warn : progress.tell)(note.line)
    if (line !== undefined && !(await isClusterInfoPublished(client)))
      progress.warn(withoutClusterInfo(flags))
    return reportCreated(infos, {joinCommand: line, dryRun})
  })
}

const withoutClusterInfo = ({dir}: CreateTokenFlags): string =>
  `the join command cannot work: this cluster has no cluster-info, by which machines find it; publish it with "${clusterCommand({dir}, 'init phase cluster-info')}" on the control plane, or join with --discovery-file`

async function wantedTokens(flags: CreateTokenFlags, {warn}: Progress): Promise<WantedToken[]> {
  if (flags.config !== undefined) return await tokensOfFile(flags.config, flags.token, warn)
  const {usages, ttl, description, groups} = flags
  return [
    {
      token: await readToken({argument: flags.token, file: flags['token-file']}, warn),
      usages: usages && parseUsages(usages),
      ttl: ttl === undefined ? undefined : parseDuration(ttl, '--ttl'),
      description,
      groups,
    },
  ]
}

async function tokensOfFile(
  path: string,
  named: string | undefined,
  warn: (line: string) => void,
): Promise<WantedToken[]> {
  if (named !== undefined) {
    throw new TrustError('USAGE', 'a token and --config cannot be used together', {
      hints: ['put the token in the file, or leave out --config'],
    })
  }
  const {bootstrapTokens, warnings} = await readConfigFile(path)
  for (const warning of warnings) warn(warning)
  if (bootstrapTokens && bootstrapTokens.length > 0) return bootstrapTokens
  throw new TrustError('CONFIG_INVALID', `${path} has no bootstrapTokens`, {
    hints: ['add them to kubeadm\'s InitConfiguration, each with "token" and "ttl"'],
  })
}
