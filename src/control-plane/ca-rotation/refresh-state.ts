import {withClient, type RotationContext} from './rotation-context.ts'
import {identityOf} from '../plane-storage.ts'
import {leaseNameOf, readServers} from '../server-identity.ts'
import {isRotating, nextStep, waitsForNodes} from './advance.ts'
import type {Dependent} from './dependent.ts'
import {isStuck, withExpiry} from './expiry.ts'
import {type Journal, readJournal} from './journal.ts'
import {readDependents, readNodesBehind} from './perform.ts'
import {ignoredIn} from './resume.ts'
import {rotate} from './rotate.ts'
import {generationIn, ROTATION_SECRET} from './sealed-rotation.ts'
import {isShared} from './share.ts'
import {publishStatus, seenStatusOf, statusOf} from './status-map.ts'
import {readWaitedFor} from './still-trusting.ts'

/** Of several servers one shows the state: the first of those that are alive, once it has followed everything. */
async function isOurs(context: RotationContext, {shared = 0}: Journal): Promise<boolean> {
  const {plane, clock} = context
  if (!isShared(plane)) return true
  return await withClient(context, async (client) => {
    const alive = (await readServers(client, clock)).filter((server) => server.alive)
    const [first] = alive.map(({name}) => name).sort()
    if (first !== leaseNameOf(identityOf(plane))) return false
    return generationIn(await client.secrets.find(ROTATION_SECRET)) <= shared
  })
}

/** Who the rotation waits for; undefined while it does something else. */
async function waitedFor(
  context: RotationContext,
  journal: Journal,
): Promise<Dependent[] | undefined> {
  const {work} = nextStep(journal) ?? {}
  if (work?.kind === 'distrusted') return await readWaitedFor(context, journal)
  const isStarted = journal.action === 'start' && (!work || work.kind === 'dependents')
  if (isStarted) return await readNodesBehind(context, journal)
  if (work?.kind !== 'dependents') return undefined
  return await readDependents({...context, ...ignoredIn(journal)}, journal, work.on)
}

/**
 * Shows in the API who is waited for now: no command runs while nodes follow. Notes that a completion is over once no node trusts the
 * old CAs. Returns whether there is more to show later.
 */
export async function refreshState(context: RotationContext): Promise<boolean> {
  const {plane, clock, signal} = context
  const stored = await readJournal(plane)
  const journal = stored && withExpiry(stored, clock.now())
  if (!journal) return false
  const isOver = !isRotating(journal)
  // A command that works shows its steps itself.
  if (!isOver && (journal !== stored || isStuck(journal))) return true
  if (!(await isOurs(context, journal))) return !isOver
  if (isOver) {
    await withClient(context, (client) => publishStatus(client, statusOf(journal)))
    return false
  }
  const waiting = await waitedFor(context, journal)
  if (!waiting) return true
  await withClient(context, (client) => publishStatus(client, seenStatusOf(journal, waiting)))
  if (waiting.length > 0 || !waitsForNodes(journal)) return true
  const observer = {begin: () => undefined, end: () => undefined, waiting: () => undefined}
  await rotate(context, 'complete', {wait: false, observer, signal})
  return true
}
