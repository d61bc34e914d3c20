import type {Authority} from '../../pki/authority.ts'
import {isSameBundle} from '../../pki/bundle.ts'
import type {LeafSpec} from '../../pki/catalog.ts'
import {parseCertificate, type Certificate} from '../../pki/certificate.ts'
import {renewLeaf} from '../../pki/leaf.ts'
import type {LeafMaterial} from '../../pki/pair-store.ts'
import type {Clock} from '../../runtime.ts'
import {findFiles} from '../brought-leaves.ts'
import {
  CLUSTER_CA,
  findAuthority,
  leafOptions,
  openStore,
  rootsOf,
  wholeCatalog,
} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import {backUp} from '../back-up.ts'
import {crossSigned} from './generations.ts'
import type {Journal} from './journal.ts'
import {unitFor} from './units.ts'

export interface RenewContext {
  plane: Plane
  journal: Journal
  clock: Clock
  tell: (line: string) => void
}

const isServer = ({usages}: LeafSpec): boolean => usages.includes('server auth')

export const isIssuedBy = (leaf: Certificate, issuer: Certificate): boolean =>
  leaf.issuer.der.equals(issuer.subject.der) && leaf.authorityKeyId === issuer.subjectKeyId

function isRight(
  {certificatePem, caPem}: Partial<LeafMaterial>,
  authority: Authority,
  roots: string | undefined,
): boolean {
  if (certificatePem === undefined) return false
  const hasRoots = caPem === undefined || roots === undefined || isSameBundle(caPem, roots)
  return hasRoots && isIssuedBy(parseCertificate(certificatePem), authority.certificate)
}

/** Renews the leaves that another generation has signed. One that is missing stays so: an operator has moved it away. */
export async function renewLeaves(context: RenewContext, which: 'clients' | 'all'): Promise<void> {
  const {plane, journal, clock, tell} = context
  const roots = await rootsOf(plane)
  for (const leaf of (await wholeCatalog(plane)).leaves) {
    if (which === 'clients' && isServer(leaf)) continue
    if (!journal.units.some(({id}) => id === leaf.authority)) continue
    const authority = await findAuthority(plane, leaf.authority)
    const material = await openStore(plane)(leaf.place).read()
    if (!authority || !material || isRight(material, authority, roots)) continue
    const {files, isBrought} = await findFiles(plane, leaf)
    if (isBrought && authority.issuer) {
      const folder = await backUp(plane, files, clock.now())
      tell(`the "${leaf.id}" that you provided was moved to ${folder}`)
    }
    await renew(context, leaf, authority)
  }
}

/**
 * Renews the leaves of ours that no CA in use has signed, whichever CAs rotate now: this machine has missed the rotation that would have
 * done so, or was ended between its CAs and its leaves.
 */
export async function renewStrays(context: RenewContext): Promise<void> {
  const {plane} = context
  for (const leaf of (await wholeCatalog(plane)).leaves) {
    const authority = await findAuthority(plane, leaf.authority)
    const {certificatePem} = (await openStore(plane)(leaf.place).read()) ?? {}
    if (!authority || certificatePem === undefined) continue
    const certificate = parseCertificate(certificatePem)
    if (authority.bundle.some((one) => isIssuedBy(certificate, one))) continue
    if (!(await findFiles(plane, leaf)).isBrought) await renew(context, leaf, authority)
  }
}

async function renew(
  {plane, journal, clock, tell}: RenewContext,
  leaf: LeafSpec,
  authority: Authority,
): Promise<void> {
  if (!authority.issuer) {
    tell(`"${leaf.id}" stays: the key of its CA is not on this machine`)
    return
  }
  const chainPem = leaf.id === 'apiserver' ? await graceChain(plane, journal, clock) : ''
  await renewLeaf(authority, leaf, {...(await leafOptions(plane, leaf)), chainPem}, clock)
  tell(`"${leaf.id}" was renewed`)
}

/** For clients that know only the old CA: the new one as certified by it, which expires soon. */
async function graceChain(
  plane: Plane,
  {action, grace, units}: Journal,
  clock: Clock,
): Promise<string> {
  const record = units.find(({id}) => id === CLUSTER_CA)
  if (action !== 'complete' || grace === undefined || !record) return ''
  return (await crossSigned(plane, unitFor(plane, {id: record.id}), clock.now(), grace)) ?? ''
}
