import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import type {LeafSpec} from '../pki/catalog.ts'
import {renewLeaf} from '../pki/leaf.ts'
import {readAuthorities} from '../trust/read-trust.ts'
import {findFiles} from './brought-leaves.ts'
import {CATALOG, leafOptions} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {exclusively, type Tell} from './exclusive.ts'
import {backUp} from './made-files.ts'
import {reloadServer} from './server-process.ts'

interface RenewedCertificate {
  name: string
  location: string
  expirationDate: string
}

export interface RenewalReport {
  renewed: RenewedCertificate[]
  /** Certificates whose CA's key is not on this machine. */
  skipped: string[]
  /** Folders with backups of certificates that an operator had provided. */
  backups: string[]
  /** Whether a running server was notified. */
  serverReloaded: boolean
}

export const LEAF_NAMES: readonly string[] = CATALOG.leaves.map(({id}) => id)

function leavesOf(name: string): readonly LeafSpec[] {
  if (name === 'all') return CATALOG.leaves
  const leaves = CATALOG.leaves.filter(({id}) => id === name)
  if (leaves.length > 0) return leaves
  throw new TrustError('USAGE', `there is no certificate "${name}"`, {
    hints: [`use "all" or one of ${LEAF_NAMES.join(', ')}`],
  })
}

/** Replaces certificates and their keys, however long the old ones are valid, and notifies a running server. */
export async function renewCertificates(
  plane: Plane,
  name: string,
  clock: Clock,
  tell?: Tell,
): Promise<RenewalReport> {
  const leaves = leavesOf(name)
  return await exclusively(plane.dir, () => renew(plane, leaves, name === 'all', clock), tell)
}

async function renew(
  plane: Plane,
  leaves: readonly LeafSpec[],
  skipsExternal: boolean,
  clock: Clock,
): Promise<RenewalReport> {
  const authorities = await readAuthorities(certDirOf(plane), CATALOG)
  const report: RenewalReport = {renewed: [], skipped: [], backups: [], serverReloaded: false}
  for (const leaf of leaves) {
    const authority = authorities.get(leaf.authority)
    if (!authority) {
      throw new TrustError('NOT_FOUND', `there is no CA "${leaf.authority}" to sign "${leaf.id}"`, {
        hints: ['create what is missing with "trustadm init phase certs"'],
      })
    }
    if (!authority.issuer && skipsExternal) {
      report.skipped.push(leaf.id)
      continue
    }
    const {files, isBrought} = await findFiles(plane, leaf)
    if (isBrought) report.backups.push(await backUp(plane, files, clock.now()))
    const options = leafOptions(plane, leaf)
    const {location, certificate} = await renewLeaf(authority, leaf, options, clock)
    report.renewed.push({
      name: leaf.id,
      location,
      expirationDate: certificate.notAfter.toISOString(),
    })
  }
  report.serverReloaded = report.renewed.length > 0 && (await reloadServer(plane))
  return report
}
