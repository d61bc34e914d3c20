import type {ApiClient} from '../../client/api-client.ts'
import {
  decideAll,
  type DecideOptions,
  type DecidedRequests,
  type Decision,
  type Target,
} from '../../control-plane/requests/decide.ts'
import {findRequests} from '../../control-plane/requests/find.ts'
import {summarizeAll} from '../../control-plane/requests/list.ts'
import {pairingIn, type Pairing} from '../../control-plane/requests/pairing.ts'
import {resolveNames} from '../../control-plane/requests/names.ts'
import {reportOn} from '../../control-plane/requests/show.ts'
import {requestsOfManifests} from '../../control-plane/requests/manifests.ts'
import {isUndecided} from '../../csr/conditions.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {ClusterFlagValues} from '../cluster.ts'
import {readInput} from '../input-file.ts'
import {columnsOf, paragraph} from '../layout.ts'
import {createProgress} from '../progress.ts'
import {canAsk, confirm} from '../prompt.ts'
import {colours} from '../colours.ts'
import {reservations} from '../views/requests-warnings.ts'
import {askedLine} from '../views/requests.ts'
import {withCluster} from '../with-cluster.ts'

export interface DecideFlags extends ClusterFlagValues {
  names: readonly string[]
  filename: readonly string[] | undefined
  selector: string | undefined
  reason: string | undefined
  message: string | undefined
  force: boolean | undefined
  'dry-run': boolean | undefined
  yes: boolean | undefined
  quiet: boolean
  verbose: boolean
}

const LARGEST_MEBIBYTES = 16

/** Decides on the requests that the flags of `certificate approve` or `certificate deny` name; undefined if the person said no. */
export async function decideRequests(
  decision: Decision,
  flags: DecideFlags,
  clock: Clock,
): Promise<DecidedRequests | undefined> {
  const {names, filename = [], selector} = flags
  if (names.length === 0 && filename.length === 0 && selector === undefined) {
    throw new TrustError('USAGE', 'no requests were named', {
      hints: [
        'pass their names; to list them, run "trustadm certificate list --state pending"',
        'or use --selector or --filename',
      ],
    })
  }
  const files = (await Promise.all(filename.map(targetsOfFile))).flat()
  const {tell} = createProgress(flags)
  const options: DecideOptions = {
    decision,
    reason: flags.reason,
    message: flags.message,
    force: flags.force,
    dryRun: flags['dry-run'],
  }
  return await withCluster(flags, async ({client, access}) => {
    const resolved = await resolveNames(client, names)
    const named = [...resolved.map((name) => ({name})), ...files]
    const targets = once([...named, ...(await selected(client, selector, clock))])
    if (targets.length === 0) tell('no requests found with these labels')
    const asks = decision === 'approve' && !flags.yes && !flags['dry-run'] && canAsk()
    const pairing = pairingIn(client, access.ca)
    const agreed =
      asks && targets.length > 0 ? await askFor(client, targets, pairing, clock) : targets
    return agreed && (await decideAll(client, agreed, options, clock))
  })
}

/** A request that is named twice is decided once, using the entry with more details. */
function once(targets: readonly Target[]): Target[] {
  const byName = new Map<string, Target>()
  for (const target of targets) byName.set(target.name, {...byName.get(target.name), ...target})
  return [...byName.values()]
}

async function selected(
  client: Pick<ApiClient, 'csrs'>,
  labelSelector: string | undefined,
  clock: Clock,
): Promise<Target[]> {
  if (labelSelector === undefined) return []
  const found = await findRequests(client, {labelSelector}, clock)
  return found.map(({metadata: {name = '', uid}}) => ({name, uid}))
}

async function targetsOfFile(path: string): Promise<Target[]> {
  const {text, source} = await readInput(path, LARGEST_MEBIBYTES)
  return requestsOfManifests(text, source)
}

/** Shows the requests to approve with everything that speaks against it, and approves only these: not others that later have the same names. */
async function askFor(
  client: ApiClient,
  targets: readonly Target[],
  pairing: Pairing,
  clock: Clock,
): Promise<Target[] | undefined> {
  const found = await Promise.all(targets.map(({name}) => client.csrs.find({name})))
  const seen = targets.map((target, index) => {
    const uid = found[index]?.metadata.uid
    return uid === undefined ? target : {...target, uid}
  })
  // Missing and decided requests are reported by the decision itself.
  const open = found.filter((csr) => csr !== undefined).filter(isUndecided)
  if (open.length === 0) return seen
  const columns = columnsOf(process.stderr)
  const mark = colours(process.stderr).red('✖')
  for (const [index, summary] of (await summarizeAll(open, {decode: true, pairing})).entries()) {
    process.stderr.write(paragraph('  ', askedLine(summary), columns, 4))
    const csr = open[index]
    const against = csr ? reservations(await reportOn(client, csr, clock, pairing)) : []
    for (const line of against) process.stderr.write(paragraph(`    ${mark} `, line, columns, 6))
  }
  const what = open.length === 1 ? 'this request' : `these ${open.length} requests`
  return (await confirm(`Approve ${what}?`)) ? seen : undefined
}
