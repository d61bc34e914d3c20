import {lookAt} from '../../fs/file-checks.ts'
import type {Authority} from '../../pki/authority.ts'
import type {LeafSpec} from '../../pki/catalog.ts'
import {ensureLeaf} from '../../pki/leaf.ts'
import {requireReplaceable, stateOfLeaf, type LeafState} from '../brought-leaves.ts'
import {findAuthority, leafOptions} from '../certificates.ts'
import {backUp} from '../back-up.ts'
import type {InitContext} from './phase.ts'

async function statesOf(
  {plane, clock}: InitContext,
  leaves: readonly LeafSpec[],
): Promise<LeafState[]> {
  const states: LeafState[] = []
  for (const leaf of leaves) {
    states.push(
      await stateOfLeaf(plane, await findAuthority(plane, leaf.authority), leaf, clock.now()),
    )
  }
  return states
}

/** Refuses to overwrite what an operator provided, before anything is written. */
export async function requireBroughtUsable(
  context: InitContext,
  leaves: readonly LeafSpec[],
): Promise<void> {
  if (!context.replacesBrought) requireReplaceable(await statesOf(context, leaves))
}

/** Each leaf that cannot be kept, with its location and why. */
export async function problemsOfLeaves(
  context: InitContext,
  leaves: readonly LeafSpec[],
): Promise<string[]> {
  return (await statesOf(context, leaves))
    .filter(({problems}) => problems.length > 0)
    .map(({leaf, location, problems}) => `"${leaf.id}" in ${location}: ${problems.join('; ')}`)
}

/** What would be done about these leaves; of one that is there, also why. */
export async function planLeaves(
  context: InitContext,
  leaves: readonly LeafSpec[],
): Promise<string[]> {
  const lines: string[] = []
  for (const {leaf, location, problems} of await statesOf(context, leaves)) {
    if (problems.length === 0) continue
    const why = (await lookAt(location)) ? `: ${problems.join('; ')}` : ''
    lines.push(`create "${leaf.id}" in ${location}${why}`)
  }
  return lines
}

/** Keeps a valid leaf, otherwise creates a new one. What an operator provided is backed up first. */
export async function ensureCatalogLeaf(
  {plane, clock, tell}: InitContext,
  authority: Authority,
  leaf: LeafSpec,
): Promise<void> {
  const {isBrought, problems, files} = await stateOfLeaf(plane, authority, leaf, clock.now())
  if (isBrought) {
    if (problems.length === 0) return tell(`"${leaf.id}" is kept: you provided it, and it works`)
    const folder = await backUp(plane, files, clock.now())
    tell(`the "${leaf.id}" that you provided was moved to ${folder}`)
  }
  const {outcome} = await ensureLeaf(authority, leaf, await leafOptions(plane, leaf), clock)
  if (outcome === 'kept') tell(`"${leaf.id}" is kept`)
  else if (outcome === 'created') tell(`"${leaf.id}" was created`)
  else tell(`"${leaf.id}" was replaced: ${problems.join('; ')}`)
}
