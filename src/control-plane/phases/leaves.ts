import {readAuthority, type Authority} from '../../pki/authority.ts'
import type {LeafSpec} from '../../pki/catalog.ts'
import type {LeafResult} from '../../pki/leaf.ts'
import {viewLeaf} from '../../pki/leaf-problems.ts'
import {CATALOG, catalogContext, openStore} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import type {PhaseContext} from './phase.ts'

export function tellOutcome({id, outcome, problems}: LeafResult, tell: PhaseContext['tell']): void {
  if (outcome === 'kept') tell(`"${id}" is kept`)
  else if (outcome === 'created') tell(`"${id}" was made`)
  else tell(`"${id}" was made anew: ${problems.join('; ')}`)
}

/** The CA of a leaf, which an earlier phase has made. */
export async function authorityOf(
  plane: Plane,
  {authority: id}: LeafSpec,
): Promise<Authority | undefined> {
  const spec = CATALOG.authorities.find((one) => one.id === id)
  return spec && (await readAuthority(certDirOf(plane), spec))
}

/** Each leaf that cannot stay as it is, with its place and why. */
export async function problemsOfLeaves(
  {plane, clock}: PhaseContext,
  authority: Authority,
  leaves: readonly LeafSpec[],
): Promise<string[]> {
  const lines: string[] = []
  for (const leaf of leaves) {
    const store = openStore(plane)(leaf.place)
    const names = leaf.names(catalogContext(plane))
    const {problems} = viewLeaf(await store.read(), {leaf, authority, now: clock.now(), names})
    if (problems.length > 0) lines.push(`"${leaf.id}" in ${store.location}: ${problems.join('; ')}`)
  }
  return lines
}

/** What would be made of these leaves, and why. */
export async function planLeaves(
  context: PhaseContext,
  leaves: readonly LeafSpec[],
): Promise<string[]> {
  const lines: string[] = []
  for (const leaf of leaves) {
    const authority = await authorityOf(context.plane, leaf)
    const {location} = openStore(context.plane)(leaf.place)
    if (authority) lines.push(...(await problemsOfLeaves(context, authority, [leaf])))
    else lines.push(`"${leaf.id}" in ${location}`)
  }
  return lines.map((line) => `make ${line}`)
}
