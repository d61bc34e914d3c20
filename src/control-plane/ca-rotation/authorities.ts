import {join} from 'node:path'
import {didYouMean} from '../../closest.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {isSelfIssued, type Certificate} from '../../pki/certificate.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {pinOf} from '../../pki/pins.ts'
import type {Clock} from '../../runtime.ts'
import {readAuthorities} from '../../trust/read-trust.ts'
import {wholeCatalog} from '../certificates.ts'
import type {AddedAuthority} from '../config/added-authorities.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {trustSources} from '../signing.ts'
import {generationOf, type Journal, readJournal} from './journal.ts'

/** One certificate of a CA. */
interface AuthorityCertificate {
  subject: string
  /** As `--discovery-token-ca-cert-hash` takes it. */
  pin: string
  fingerprint: string
  notBefore: string
  notAfter: string
  /** Whole seconds; negative once it has expired. */
  residualSeconds: number
  /** 1 for the first one; each rotation adds one. Absent for what did not come by a rotation and is only trusted. */
  generation?: number
  /** Whether this one signs; others of the same CA are only trusted. */
  signs: boolean
  /** The CA that certified this one; absent if it is its own. */
  certifiedBy?: string
}

/** A CA of the control plane. */
export interface AuthorityReport {
  name: string
  location: string
  /** What programs trust it for. */
  trustedFor: readonly string[]
  /** The certificates of the control plane and the signers of requests that it signs for. */
  signsFor: string[]
  externallyManaged: boolean
  /** Its settings, if an operator has added it. */
  added?: Pick<AddedAuthority, 'signs' | 'description' | 'onChange'>
  /** The signing one first. */
  certificates: AuthorityCertificate[]
}

const describe = (certificate: Certificate, signs: boolean, now: Date): AuthorityCertificate => ({
  subject: formatName(certificate.subject),
  pin: pinOf(certificate),
  fingerprint: certificate.fingerprint,
  notBefore: certificate.notBefore.toISOString(),
  notAfter: certificate.notAfter.toISOString(),
  residualSeconds: Math.floor((certificate.notAfter.getTime() - now.getTime()) / 1000),
  signs,
  ...(!isSelfIssued(certificate) && {certifiedBy: formatName(certificate.issuer)}),
})

const settingsOf = ({name: _name, ...others}: AddedAuthority) => others

const withGeneration = (
  one: AuthorityCertificate,
  journal: Journal | undefined,
  id: string,
): AuthorityCertificate => {
  const generation = generationOf(journal, id, one)
  return generation === undefined ? one : {...one, generation}
}

/** A journal that cannot be read is for `ca rotate` to report. */
const journalIfReadable = (plane: Plane): Promise<Journal | undefined> =>
  readJournal(plane).catch((error: unknown) => {
    if (hasCode(error, 'CONFIG_INVALID')) return undefined
    throw error
  })

/** Every CA of a control plane: what it signs, what it is trusted for, and each of its certificates. */
export async function listAuthorities(plane: Plane, clock: Clock): Promise<AuthorityReport[]> {
  const certDir = certDirOf(plane)
  const catalog = await wholeCatalog(plane)
  const found = await readAuthorities(certDir, catalog)
  const {signers} = await trustSources(plane)
  const journal = await journalIfReadable(plane)
  return catalog.authorities.flatMap(({id, place, trustedFor}) => {
    const authority = found.get(id)
    if (!authority) return []
    const leaves = catalog.leaves.filter((leaf) => leaf.authority === id).map((leaf) => leaf.id)
    const requests = signers.filter((signer) => signer.authority === id).map(({name}) => name)
    const now = clock.now()
    const added = plane.settings.authorities.find(({name}) => name === id)
    return [
      {
        name: id,
        location: join(certDir, place.crt),
        trustedFor,
        signsFor: [...leaves, ...requests],
        externallyManaged: authority.issuer === undefined,
        ...(added && {added: settingsOf(added)}),
        certificates: authority.bundle.map((one, index) =>
          withGeneration(describe(one, index === 0, now), journal, id),
        ),
      },
    ]
  })
}

export async function showAuthority(
  plane: Plane,
  name: string,
  clock: Clock,
): Promise<AuthorityReport> {
  const all = await listAuthorities(plane, clock)
  const found = all.find((one) => one.name === name)
  if (found) return found
  const names = all.map((one) => one.name)
  throw new TrustError('NOT_FOUND', `there is no CA "${name}"`, {
    hints: [...didYouMean(name, names), `the CAs are ${names.join(', ')}`],
  })
}
