import {join} from 'node:path'
import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {readAuthority, requireCurrent, type Authority} from './authority.ts'
import type {Certificate} from './certificate.ts'
import type {AuthoritySpec, Catalog, LeafSpec, Place} from './catalog.ts'
import {viewLeaf} from './leaf-problems.ts'
import type {LeafStore} from './pair-store.ts'
import {formatName} from './distinguished-name.ts'
import {pinOf, type Pin} from './pins.ts'

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
  /** Of its key; absent if there is no readable certificate. */
  pin?: Pin
  serial?: string
  /** The CA that signs it; absent for a CA. */
  authority?: string
  /** For a leaf: the name of the CA that has signed it. */
  issuer?: string
  /** For a CA: whether it is the one that signs. The others in its file are only trusted. */
  signs?: boolean
  /** Whether the key of the CA is not on this machine, so that it cannot renew anything. */
  externallyManaged: boolean
  problems: string[]
  /** What will become a problem. */
  warnings: string[]
}

/** A CA takes long to replace: everybody who trusts it has to follow. */
const WARN_ABOUT_AUTHORITY = 365 * 86_400_000

export interface InspectionSources {
  certDir: string
  /** Opens the location of a leaf; the caller reads kubeconfig files. */
  openStore: (place: Place) => LeafStore
}

function timesOf(
  certificate: Certificate | undefined,
  now: Date,
): Pick<Inspection, 'expires' | 'residual' | 'current' | 'pin' | 'serial'> {
  if (!certificate) return {}
  const {notBefore, notAfter: expires, serial} = certificate
  const current = notBefore <= now && now <= expires
  const residual = expires.getTime() - now.getTime()
  return {expires, residual, current, pin: pinOf(certificate), serial}
}

/** A year ahead: nothing that it signs can be valid for longer. */
function warningsOf({notAfter}: Certificate, now: Date): string[] {
  const residual = notAfter.getTime() - now.getTime()
  if (residual < 0 || residual > WARN_ABOUT_AUTHORITY) return []
  const date = notAfter.toISOString().slice(0, 10)
  return [`it ends on ${date}, in less than a year: plan its replacement`]
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
): Promise<{id: string; lines: Inspection[]; authority?: Authority}> {
  const {id} = spec
  const about = {id, kind: 'authority', location: join(certDir, spec.place.crt)} as const
  const unusable = (problem: string) => ({
    id,
    lines: [{...about, externallyManaged: false, problems: [problem], warnings: []}],
  })
  try {
    const authority = await readAuthority(certDir, spec)
    if (!authority) return unusable('it is missing')
    const lines = authority.bundle.map((certificate, index) => ({
      ...about,
      ...timesOf(certificate, now),
      signs: index === 0,
      externallyManaged: authority.issuer === undefined,
      problems: problemOf(() => requireCurrent({...authority, certificate}, now)),
      warnings: warningsOf(certificate, now),
    }))
    return {id, lines, authority}
  } catch (error) {
    return unusable(messageOf(error))
  }
}

async function inspectLeaf(
  leaf: LeafSpec,
  {authority, caPem}: {authority: Authority | undefined; caPem: string | undefined},
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
    warnings: [] as string[],
  } as const
  if (!authority) return {...about, problems: [`its CA "${leaf.authority}" cannot be used`]}
  try {
    const {certificate, problems} = viewLeaf(await store.read(), {
      leaf,
      authority,
      now,
      caPem,
    })
    const issuer = certificate && {issuer: formatName(certificate.issuer)}
    return {...about, ...timesOf(certificate, now), ...issuer, problems}
  } catch (error) {
    return {...about, problems: [messageOf(error)]}
  }
}

/** Every certificate of the catalog, also all CAs that are trusted during a rotation, with its expiry date and its problems. Creates nothing, and reports all entries even if some are bad. */
export async function inspectCatalog(
  {authorities, leaves}: Catalog,
  sources: InspectionSources,
  clock: Clock,
): Promise<Inspection[]> {
  const now = clock.now()
  const inspected = await Promise.all(
    authorities.map((spec) => inspectAuthority(spec, sources, now)),
  )
  const usable = new Map(inspected.map(({id, authority}) => [id, authority]))
  const roots = authorities.find(({trustedFor}) => trustedFor.includes('api-server'))
  const caPem = roots && usable.get(roots.id)?.bundlePem
  const leafLines = await Promise.all(
    leaves.map((leaf) =>
      inspectLeaf(leaf, {authority: usable.get(leaf.authority), caPem}, sources, now),
    ),
  )
  return [...inspected.flatMap(({lines}) => lines), ...leafLines]
}
