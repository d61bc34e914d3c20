import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import type {Clock} from '../../runtime.ts'
import {rootsOf, specsOf} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {writeBundles} from '../kubeconfig-bundles.ts'
import {arrange} from './arrange.ts'
import {runHooks} from './hooks.ts'
import {writeJournal, type Journal} from './journal.ts'
import {removeGenerations} from './remove.ts'
import {renewLeaves, renewStrays} from './renew-leaves.ts'
import type {SharedRotation} from './sealed-rotation.ts'
import {writeShared} from './shared-files.ts'
import {writeRest} from './shared-rest.ts'
import {targetOf, type Target} from './target.ts'
import {unitFor, type Unit} from './units.ts'

export interface ApplyOptions {
  clock: Clock
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

/** A CA that an operator has added elsewhere only, or that of an etcd on another machine, is not for this one. */
async function isHere(plane: Plane, id: string): Promise<boolean> {
  const spec = specsOf(plane).find((one) => one.id === id)
  if (!spec) return false
  if (spec.when !== 'external-etcd') return true
  return (await lookAt(join(certDirOf(plane), spec.place.crt))) !== undefined
}

async function unitsHere(plane: Plane, {units}: Journal): Promise<Unit[]> {
  const found: Unit[] = []
  for (const record of units)
    if (record.id === 'sa' || (await isHere(plane, record.id))) found.push(unitFor(plane, record))
  return found
}

/** Returns the units whose files were not right. */
async function arrangeShared(
  plane: Plane,
  shared: SharedRotation,
  {clients, servers, trusts}: NonNullable<Target['arrange']>,
): Promise<Unit[]> {
  const units = await unitsHere(plane, shared.journal)
  await writeShared(plane, shared, units)
  const changed: Unit[] = []
  for (const unit of units) {
    const signs = unit.signsFrom === 'start' ? clients : servers
    if (await arrange(plane, unit, {signs, trusts})) changed.push(unit)
  }
  return changed
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
  const {arrange: wanted, leaves, removed} = targetOf(journal)
  const context = {plane, journal, clock, tell: log}
  const others = await writeRest(plane, shared, wanted !== undefined)
  if (others.length > 0) {
    const units = others.map((id) => ({id, old: {pin: ''}, new: {pin: ''}}))
    await renewLeaves({...context, journal: {...journal, units}}, 'all')
  }
  const changed = wanted ? await arrangeShared(plane, shared, wanted) : []
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
