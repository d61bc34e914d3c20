import type {Clock} from '../../runtime.ts'
import {rootsOf} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import {writeBundles} from '../kubeconfig-bundles.ts'
import {arrange} from './arrange.ts'
import {runHooks} from './hooks.ts'
import {readJournal, writeJournal, type Journal} from './journal.ts'
import {removeGenerations} from './remove.ts'
import {renewLeaves, renewStrays} from './renew-leaves.ts'
import type {SharedRotation} from './sealed-rotation.ts'
import {writeEtcdFiles} from './shared-etcd.ts'
import {etcdFilesIn, writeShared} from './share.ts'
import {writeRest} from './shared-rest.ts'
import {isHeld, type Target, targetOf, unitsHere} from './target.ts'
import type {Unit} from './units.ts'

export interface ApplyOptions {
  clock: Clock
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Returns the units that are arranged otherwise than this machine has followed so far. */
async function arrangeShared(
  plane: Plane,
  shared: SharedRotation,
  target: Target,
  {followed, log}: {followed: Journal | undefined; log: (line: string) => void},
): Promise<Unit[]> {
  const {arrange: wanted} = target
  if (!wanted) return []
  const units = await unitsHere(plane, shared.journal)
  await writeShared(plane, shared, units)
  const changed: Unit[] = []
  for (const unit of units) {
    if (!(await isHeld(plane, unit, target, shared.journal))) {
      log(`"${unit.id}" stays as it is: the machine that rotates does not have it`)
      continue
    }
    const signs = unit.signsFrom === 'start' ? wanted.clients : wanted.servers
    const isWritten = await arrange(plane, unit, {signs, trusts: wanted.trusts})
    // If an earlier try was ended, or a command has failed, the files are right already: the commands are still to be run.
    if (isWritten || arrangedBy(followed, unit) !== arrangedBy(shared.journal, unit))
      changed.push(unit)
  }
  return changed
}

/** Which generations of a CA sign and are trusted after what a journal says; undefined if it says nothing about that. */
function arrangedBy(journal: Journal | undefined, {id, signsFrom}: Unit): string | undefined {
  const record = journal?.units.find((one) => one.id === id)
  const {arrange: wanted} = journal ? targetOf(journal) : {}
  if (!record || !wanted) return undefined
  const signs = signsFrom === 'start' ? wanted.clients : wanted.servers
  return [signs, ...wanted.trusts].map((which) => record[which].pin).join(' ')
}

/**
 * Arranges the files of this machine as those of the machine that rotates: the same CAs and keys, and certificates and kubeconfigs of its
 * own below them. The journal is last: ended before, it is repeated, and changes only what is not right yet.
 */
export async function applyShared(
  plane: Plane,
  shared: SharedRotation,
  {clock, log, signal}: ApplyOptions,
): Promise<void> {
  const {journal} = shared
  const target = targetOf(journal)
  const {arrange: wanted, leaves, removed} = target
  const context = {plane, journal, clock, tell: log}
  const others = await writeRest(plane, shared, {isArranged: wanted !== undefined, clock, log})
  if (others.length > 0) {
    const units = others.map((id) => ({id, old: {pin: ''}, new: {pin: ''}}))
    await renewLeaves({...context, journal: {...journal, units}}, 'all')
  }
  const followed = await readJournal(plane).catch(() => undefined)
  const changed = await arrangeShared(plane, shared, target, {followed, log})
  const journals = followed ? [journal, followed] : [journal]
  await writeEtcdFiles(plane, etcdFilesIn(shared), {journals, log})
  await writeBundles(plane, (await rootsOf(plane)) ?? '')
  if (leaves) await renewLeaves(context, leaves)
  await renewStrays(context)
  const step = journal.running ?? journal.done.at(-1) ?? ''
  await runHooks(plane, changed, {step, tell: log, signal})
  // Before the new CAs exist, what is there is of an earlier rotation whose end this machine has missed.
  const stale = wanted ? undefined : journal.action === 'abort' ? 'new' : 'old'
  const generation = removed ?? stale
  if (generation !== undefined) await removeGenerations(plane, generation)
  await writeJournal(plane, journal)
}
