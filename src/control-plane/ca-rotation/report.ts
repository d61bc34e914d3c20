import {messageOf} from '../../errors.ts'
import type {Plane} from '../config/plane.ts'
import {isReplaced} from '../old-trust.ts'
import {planeCommand} from '../plane-command.ts'
import {readNamedSigners} from '../server-report.ts'
import {isRotating, stepsOf} from './advance.ts'
import type {Dependent} from './dependent.ts'
import {isLost, isStuck, withExpiry} from './expiry.ts'
import {groupsOf, type DependentGroup} from './groups.ts'
import {followingServers, labelOf, type FollowingServer} from './following.ts'
import {readJournal, type Journal} from './journal.ts'
import {isShared} from './share.ts'
import {readDependents} from './perform.ts'
import {withClient, type RotationContext} from './rotation-context.ts'
import {readStillTrusting} from './still-trusting.ts'
import {statusOf, type RotationStatus} from './status-map.ts'

/** What `ca rotate status` prints, and what the other commands print at their end. */
export interface RotationReport extends RotationStatus {
  /** Whether `complete` would go on; what only a person can confirm, as `replaced-here`, does not count. */
  isReady: boolean
  /** Whether the last command has nothing left to do: no rotation is in progress, or all that `start` waits for has happened. */
  isSettled: boolean
  /** The nodes that have followed, of all; absent if no node has anything to follow. */
  nodes?: {done: number; total: number}
  /** The servers that follow it, and how far each is; absent if only one can use the store. */
  servers?: FollowingServer[]
  /** Who would be locked out, the most urgent first. */
  dependents: Dependent[]
  /** The same in groups, with the first names of each and what to do. */
  groups: DependentGroup[]
  /** The nodes that still trust a CA that the last completion has replaced, also those that it was told to ignore. */
  stillTrusting: (Dependent & {isWaitedFor: boolean})[]
  /** What people have to do; nothing here can do it for them. */
  advice: string[]
}

/** For a rotation in which an old CA has expired. */
function expiryAdvice({dir}: Plane, {isExpired}: Journal): string {
  const again = `run "${planeCommand(dir, 'ca rotate start')}" again, so that`
  return isExpired
    ? `The old CA has expired, and no client accepts what it has signed: ${again} the servers get certificates of the new one.`
    : `The old CA of clients has expired, and the server accepts nothing that it has signed: ${again} the control plane gets certificates of the new one.`
}

/** For a rotation whose new CAs have expired. */
function lostAdvice({dir}: Plane, {action}: Journal): string {
  const commands = [...(action === 'start' ? ['start'] : []), 'complete', 'start']
  const named = commands.map((name) => `"${planeCommand(dir, `ca rotate ${name}`)}"`)
  return `The new CA has expired, and no client accepts what it has signed: run ${named.join(', then ')}, which creates another one.`
}

/** Who signs with CAs that a rotation leaves to their owners. */
async function signerAdvice(context: RotationContext): Promise<string[]> {
  const found = await withClient(context, readNamedSigners)
  return found.flatMap(({host, signers}) =>
    signers.map(
      ({name, location, notAfter}) =>
        `${name} is signed on ${host} with the CA in ${location} (until ${notAfter}), which is not part of this rotation: its owner replaces it.`,
    ),
  )
}

/** What to do, and for which CAs. */
interface Advice {
  about: readonly string[]
  text: string
}

const prepared = ({dir}: Plane): Advice[] => [
  {
    about: ['ca', 'client-ca'],
    text: `Replace your kubeconfigs and the certificates you got by requests: those from before trust only the old CA, or are signed by it. "${planeCommand(dir, 'kubeconfig user')}" makes new ones.`,
  },
  {
    about: ['ca'],
    text: 'Restart pods that read the CA bundle only once, so that they trust the new CA.',
  },
  {
    about: ['client-ca', 'front-proxy-ca'],
    text: 'Extension API servers must have read the ConfigMap kube-system/extension-apiserver-authentication again.',
  },
]
const COMPLETED: readonly Advice[] = [
  {
    about: ['ca'],
    text: 'Pods that were not restarted still trust the old CA: restart them to end that.',
  },
  {
    about: ['ca'],
    text: 'Kubeconfigs made during the rotation still contain the old CA: fetch new ones.',
  },
  {
    about: ['etcd-ca'],
    text: 'Restart etcd, so that it trusts only the new CA. Until then it still accepts clients of the old one.',
  },
]

const textsOf = (advice: readonly Advice[], {units}: Journal): string[] =>
  advice.filter(({about}) => units.some(({id}) => about.includes(id))).map(({text}) => text)

/** Nobody reports who uses the CAs of an operator. */
function adviceForAdded({settings}: Plane, {units}: Journal): string[] {
  const names = settings.authorities
    .filter(({name, onChange}) => onChange === undefined && units.some(({id}) => id === name))
    .map(({name}) => name)
  return names.length === 0
    ? []
    : [
        `Make the programs that use ${names.join(' or ')} read the new files: there is no command that does it.`,
      ]
}

function adviceFor(plane: Plane, journal: Journal | undefined): string[] {
  if (journal === undefined) return []
  if (journal.action === 'start' && isRotating(journal))
    return [...textsOf(prepared(plane), journal), ...adviceForAdded(plane, journal)]
  const isCompleted = journal.action === 'complete' && journal.phase === 'Completed'
  return isCompleted ? textsOf(COMPLETED, journal) : []
}

/** Whether nothing is left but to wait for nodes. */
const isWaiting = (journal: Journal): boolean =>
  stepsOf(journal).every(({id, work}) => work.kind === 'dependents' || journal.done.includes(id))

/** Whether the step that runs waits for servers, not for nodes and clients. */
const isAwaitingServers = (journal: Journal | undefined): boolean =>
  journal !== undefined &&
  stepsOf(journal).some(
    ({id, work}) => id === journal.running && ['servers', 'others'].includes(work.kind),
  )

const late = (servers: readonly FollowingServer[] = []): {name: string}[] =>
  servers.filter(({state}) => state === 'behind').map((server) => ({name: labelOf(server)}))

/** Once a rotation is over, its state is shown although nobody can be asked. */
async function trustingNodes(
  context: RotationContext,
  journal: Journal | undefined,
): Promise<RotationReport['stillTrusting']> {
  if (!journal || !isReplaced(journal)) return []
  try {
    return await readStillTrusting(context, journal)
  } catch (error) {
    if (isRotating(journal)) throw error
    context.warn(`cannot ask which nodes still trust the old CA: ${messageOf(error)}`)
    return []
  }
}

export async function reportRotation(context: RotationContext): Promise<RotationReport> {
  const found = await readJournal(context.plane)
  const journal = found && withExpiry(found, context.clock.now())
  const isOut = isRotating(journal) && isLost(journal, context.clock.now())
  const isUnasked = isRotating(journal) && (isStuck(journal) || isOut)
  const on = journal?.action === 'abort' ? 'new' : 'old'
  // Before the new CAs exist, nobody can have changed.
  const hasBoth = isRotating(journal) && journal.units.every((unit) => unit.new.pin !== '')
  let total = 0
  const sawNodes = (count: number) => (total = count)
  // No client accepts the certificate of the server then, or the server accepts no client.
  const isAsked = hasBoth && !isUnasked && !isReplaced(journal)
  const dependents = isAsked ? await readDependents({...context, sawNodes}, journal, on) : []
  const stillTrusting = isUnasked ? [] : await trustingNodes({...context, sawNodes}, journal)
  const behind = [...dependents, ...stillTrusting].filter(({kind}) => kind === 'node').length
  const servers =
    journal && !isUnasked && isShared(context.plane)
      ? await withClient(context, (client) =>
          followingServers(client, context.clock, journal.shared ?? 0),
        )
      : undefined
  const awaited = [...dependents, ...stillTrusting.filter(({isWaitedFor}) => isWaitedFor)]
  const status = statusOf(journal, isAwaitingServers(journal) ? late(servers) : awaited)
  // Nodes follow without a command that notes it.
  const isPrepared = hasBoth && journal.action === 'start' && behind === 0 && isWaiting(journal)
  return {
    ...status,
    steps: isPrepared ? status.steps.map((step) => ({...step, state: 'done'})) : status.steps,
    isReady: isPrepared && dependents.every(({kind}) => kind === 'replaced'),
    isSettled: !isRotating(journal) || isPrepared,
    ...(total > 0 && {nodes: {done: total - behind, total}}),
    ...(servers && {servers}),
    dependents,
    groups: groupsOf(dependents),
    stillTrusting,
    advice: isUnasked
      ? [isOut ? lostAdvice(context.plane, journal) : expiryAdvice(context.plane, journal)]
      : [...adviceFor(context.plane, journal), ...(hasBoth ? await signerAdvice(context) : [])],
  }
}
