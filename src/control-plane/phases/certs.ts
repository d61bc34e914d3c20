import {ensureAuthority, readAuthority, type Authority} from '../../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, type LeafSpec} from '../../pki/catalog.ts'
import {ensureKeyPair, readKeyPair} from '../../pki/key-pair.ts'
import {ensureLeaf, type LeafResult} from '../../pki/leaf.ts'
import {viewLeaf} from '../../pki/leaf-problems.ts'
import {CATALOG, catalogContext, leafOptions, openStore} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import type {Phase, PhaseContext} from './phase.ts'

const isPair = ({place}: LeafSpec): boolean => place.kind === 'pair'

/** Notes first that the CA is ours to make, so that `reset` can tell it from one that an operator brought. */
async function noteAsOurs(plane: Plane, id: string): Promise<Plane> {
  if (plane.generatedAuthorities.includes(id)) return plane
  const noted = {...plane, generatedAuthorities: [...plane.generatedAuthorities, id]}
  await savePlane(noted)
  return noted
}

async function ensureAuthorities(context: PhaseContext): Promise<void> {
  const {clock, tell} = context
  const certDir = certDirOf(context.plane)
  for (const spec of CATALOG.authorities) {
    if (!(await readAuthority(certDir, spec))) {
      context.plane = await noteAsOurs(context.plane, spec.id)
    }
    const {keyAlgorithm: algorithm, caCertificateValidityPeriod: lifetime} = context.plane.settings
    const {created, issuer} = await ensureAuthority(certDir, spec, {algorithm, lifetime}, clock)
    const kept = issuer ? 'is kept' : 'is kept; its key is elsewhere'
    tell(`the CA "${spec.id}" ${created ? 'was made' : kept}`)
  }
}

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

/** What would be made of these leaves, and why. */
export async function planLeaves(
  {plane, clock}: PhaseContext,
  leaves: readonly LeafSpec[],
): Promise<string[]> {
  const lines: string[] = []
  for (const leaf of leaves) {
    const authority = await authorityOf(plane, leaf)
    const store = openStore(plane)(leaf.place)
    if (!authority) {
      lines.push(`make "${leaf.id}" in ${store.location}`)
      continue
    }
    const names = leaf.names(catalogContext(plane))
    const {problems} = viewLeaf(await store.read(), {leaf, authority, now: clock.now(), names})
    if (problems.length > 0) {
      lines.push(`make "${leaf.id}" in ${store.location}: ${problems.join('; ')}`)
    }
  }
  return lines
}

export const certs: Phase = {
  name: 'certs',
  summary: 'make the CAs, the serving and client certificates and the keys of service accounts',

  async plan(context) {
    const certDir = certDirOf(context.plane)
    const lines: string[] = []
    for (const spec of CATALOG.authorities) {
      if (!(await readAuthority(certDir, spec)))
        lines.push(`make the CA "${spec.id}" in ${certDir}`)
    }
    lines.push(...(await planLeaves(context, CATALOG.leaves.filter(isPair))))
    if (!(await readKeyPair(certDir, SERVICE_ACCOUNT_KEYS))) {
      lines.push(`make the keys of service accounts in ${certDir}`)
    }
    return lines
  },

  async run(context) {
    await ensureAuthorities(context)
    for (const leaf of CATALOG.leaves.filter(isPair)) {
      const authority = await authorityOf(context.plane, leaf)
      if (!authority) continue
      const options = leafOptions(context.plane, leaf)
      tellOutcome(await ensureLeaf(authority, leaf, options, context.clock), context.tell)
    }
    const {created} = await ensureKeyPair(certDirOf(context.plane), SERVICE_ACCOUNT_KEYS, {
      algorithm: context.plane.settings.keyAlgorithm,
    })
    context.tell(`the keys of service accounts ${created ? 'were made' : 'are kept'}`)
  },
}
