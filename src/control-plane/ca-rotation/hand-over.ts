import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, messageOf, TrustError} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {readTrust} from '../../trust/read-trust.ts'
import {type Trust, trustDigest} from '../../trust/trust.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {exclusively} from '../exclusive.ts'
import {reloadServer} from '../server-process.ts'
import {serversBehind} from '../server-report.ts'
import {findServer} from '../server-state.ts'
import {trustSources} from '../signing.ts'
import {isSameAction} from './advance.ts'
import {isLost, withExpiry} from './expiry.ts'
import {Liveness, requireFollowers, serversNotFollowing} from './following.ts'
import {type Journal, readJournal, writeJournal} from './journal.ts'
import {type RotationContext, withClient} from './rotation-context.ts'
import {isShared, requireFollowed, share} from './share.ts'

/** Reads what is on the disk as a server would. */
export const readWanted = async (plane: Plane): Promise<Trust> =>
  readTrust(await trustSources(plane), 1)

/** Writes what `change` returns, under the lock. */
async function changeJournal(
  {plane, tell, signal}: RotationContext,
  change: (journal: Journal) => Promise<Journal>,
): Promise<Journal> {
  const work = async () => {
    const journal = await readJournal(plane)
    if (!journal) throw new TrustError('NOT_FOUND', 'the journal of the rotation is missing')
    const next = await change(journal)
    await writeJournal(plane, next)
    return next
  }
  return await exclusively(plane.dir, work, tell, signal)
}

/** Hands what is on this machine to the other servers. */
async function shareFiles(context: RotationContext, journal: Journal): Promise<number> {
  const {plane} = context
  let generation = 0
  await poll(context, journal, 'the CAs were not handed to the other servers', async (client) => {
    const {shared} = await changeJournal(context, (found) => share(client, plane, found))
    generation = shared ?? 0
    return []
  })
  return generation
}

/** Waits until every server uses what is on the disk of this machine; with an etcd, it is handed to the others first. */
export async function untilServersFollow(
  context: RotationContext,
  journal: Journal,
): Promise<void> {
  const {plane, clock, liveness = new Liveness()} = context
  const generation = isShared(plane) ? await shareFiles(context, journal) : undefined
  const digest = trustDigest(await readWanted(plane))
  await poll(context, journal, 'not every server has followed', async (client) =>
    generation === undefined
      ? ((await serversBehind(client, digest)) ?? ['no server has reported'])
      : await serversNotFollowing(client, clock, generation, liveness),
  )
}

/** Refuses what cannot begin now. A server that nobody can talk to because of its expired CA is not asked. */
export async function requireBeginnable(
  context: RotationContext,
  journal: Journal | undefined,
): Promise<void> {
  const {plane} = context
  if (!(await findServer(plane))) throw notRunning()
  if (isShared(plane)) await requireServers(context, journal)
}

/** Refuses to rotate if other servers cannot follow, or if this machine has not followed another one. */
export async function requireServers(
  context: RotationContext,
  journal: Journal | undefined,
): Promise<void> {
  const {plane, clock} = context
  const check = async (client: ApiClient) => {
    await requireFollowers(client, plane, clock)
    await requireFollowed(client, journal)
  }
  await withClient(context, check).catch(whileChanging)
}

/** Tells the other machines that this one begins something, before it changes anything. If nobody can talk to the server, they see it later. */
export async function claim(context: RotationContext, journal: Journal): Promise<Journal> {
  const {plane} = context
  if (!isShared(plane)) return journal
  try {
    return await withClient(context, (client) => share(client, plane, journal))
  } catch (error) {
    whileChanging(error)
    return journal
  }
}

/**
 * Hands the journal to the other machines, so that the next command can be run on any of them. That the end was shown is noted with it and
 * not before: a run that is killed before the others know the end is repeated.
 */
export async function handOver(
  context: RotationContext,
  journal: Journal,
  {isShown = false}: {isShown?: boolean} = {},
): Promise<Journal> {
  const {plane, warn} = context
  if (!isShared(plane)) return journal
  try {
    const shared = await withClient(context, (client) =>
      changeJournal(context, (found) =>
        share(client, plane, {
          ...found,
          ...(isShown && isSameAction(found, journal) && {isShown}),
        }),
      ),
    )
    await reloadServer(plane)
    return shared
  } catch (error) {
    warn(`the other machines do not know yet how far the rotation is: ${messageOf(error)}`)
    return journal
  }
}

const PAUSE = 50
const SIGNAL_EVERY = 3000
const LONGEST_WAIT = 60_000

/** Looks again and again, with signals to the server, which may have been restarted in the meantime. */
export async function poll(
  context: RotationContext,
  journal: Journal,
  what: string,
  behind: (client: ApiClient) => Promise<string[]>,
): Promise<void> {
  const {plane, clock} = context
  if (isLost(journal, clock.now())) {
    context.warn(`${LOST}, so this was not waited for: ${what}`)
    return
  }
  const end = performance.now() + LONGEST_WAIT
  let signalAt = 0
  for (;;) {
    if (performance.now() >= signalAt) {
      if (!(await reloadServer(plane))) throw notRunning()
      signalAt = performance.now() + SIGNAL_EVERY
    }
    const waiting = await withClient(context, behind).catch(whileChanging)
    if (waiting.length === 0) return
    context.sawWaiting?.(waiting)
    // Nobody can follow any more: the caller continues with the steps for that.
    if (withExpiry(journal, clock.now()) !== journal) return
    if (performance.now() > end) throw tooLate(plane, what, waiting)
    await sleep(PAUSE)
  }
}

const LOST = 'a new CA has expired, and nobody can talk to the server'

/** Until the server has reread its files, it may present or refuse what has expired. */
function whileChanging(error: unknown): string[] {
  const isPassing = hasCode(
    error,
    'SERVER_CERTIFICATE_EXPIRED',
    'SERVER_NOT_TRUSTED',
    'SERVER_UNREACHABLE',
    'UNAUTHORIZED',
  )
  if (isPassing) return [error.message]
  throw error
}

function notRunning(): TrustError {
  return new TrustError('SERVER_UNREACHABLE', 'the server of this control plane is not running', {
    hints: ['start it with "trustadm start", then run the command again: it resumes'],
  })
}

function tooLate(plane: Plane, what: string, waiting: readonly string[]): TrustError {
  const shown = waiting.slice(0, 5).join(', ')
  return new TrustError(
    'TIMED_OUT',
    `${what} within ${LONGEST_WAIT / 1000} s: ${shown}${waiting.length > 5 ? ` and ${waiting.length - 5} more` : ''}`,
    {hints: [`look at ${fileOf(plane, 'log')}`, 'run the command again: it resumes']},
  )
}
