import {join} from 'node:path'
import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {readAuthority, requireCurrent, type Authority} from './authority.ts'
import type {Certificate} from './certificate.ts'
import type {AuthoritySpec, Catalog, LeafSpec, Place} from './catalog.ts'
import {viewLeaf} from './leaf-problems.ts'
import type {LeafStore} from './pair-store.ts'

/** One line of `certificate check-expiration`. */
export interface Inspection {
  id: string
  kind: 'authority' | 'leaf'
  location: string
  /** Absent if there is no readable certificate. */
  expires?: Date
  /** Milliseconds until it expires; negative afterwards. */
  residual?: number
  /** Whether it is valid now: neither expired nor not valid yet. */
  current?: boolean
  /** The CA that signs it; absent for a CA. */
  authority?: string
  /** Whether the key of the CA is not on this machine, so that it cannot renew anything. */
  externallyManaged: boolean
  problems: string[]
}

export interface InspectionSources {
  certDir: string
  /** Opens the location of a leaf; the caller reads kubeconfig files. */
  openStore: (place: Place) => LeafStore
}

function timesOf(
  certificate: Certificate | undefined,
  now: Date,
): Pick<Inspection, 'expires' | 'residual' | 'current'> {
  if (!certificate) return {}
  const {notBefore, notAfter: expires} = certificate
  const current = notBefore <= now && now <= expires
  return {expires, residual: expires.getTime() - now.getTime(), current}
}

function problemOf(check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}

async function inspectAuthority(
  spec: AuthoritySpec,
  {certDir}: InspectionSources,
  now: Date,
): Promise<{inspection: Inspection; authority?: Authority}> {
  const about = {id: spec.id, kind: 'authority', location: join(certDir, spec.place.crt)} as const
  try {
    const authority = await readAuthority(certDir, spec)
    if (!authority) {
      return {inspection: {...about, externallyManaged: false, problems: ['it is missing']}}
    }
    const inspection: Inspection = {
      ...about,
      ...timesOf(authority.certificate, now),
      externallyManaged: authority.issuer === undefined,
      problems: problemOf(() => requireCurrent(authority, now)),
    }
    return {inspection, authority}
  } catch (error) {
    return {inspection: {...about, externallyManaged: false, problems: [messageOf(error)]}}
  }
}

async function inspectLeaf(
  leaf: LeafSpec,
  authority: Authority | undefined,
  {openStore}: InspectionSources,
  now: Date,
): Promise<Inspection> {
  const store = openStore(leaf.place)
  const about = {
    id: leaf.id,
    kind: 'leaf',
    location: store.location,
    authority: leaf.authority,
    externallyManaged: authority !== undefined && authority.issuer === undefined,
  } as const
  if (!authority) return {...about, problems: [`its CA "${leaf.authority}" cannot be used`]}
  try {
    const {certificate, problems} = viewLeaf(await store.read(), {leaf, authority, now})
    return {...about, ...timesOf(certificate, now), problems}
  } catch (error) {
    return {...about, problems: [messageOf(error)]}
  }
}

/** Every entry of the catalog with its expiry date and its problems. Creates nothing, and reports all entries even if some are bad. */
export async function inspectCatalog(
  {authorities, leaves}: Catalog,
  sources: InspectionSources,
  clock: Clock,
): Promise<Inspection[]> {
  const now = clock.now()
  const inspected = await Promise.all(
    authorities.map((spec) => inspectAuthority(spec, sources, now)),
  )
  const usable = new Map(inspected.map(({inspection, authority}) => [inspection.id, authority]))
  const leafLines = await Promise.all(
    leaves.map((leaf) => inspectLeaf(leaf, usable.get(leaf.authority), sources, now)),
  )
  return [...inspected.map(({inspection}) => inspection), ...leafLines]
}
