import {didYouMean} from '../closest.ts'
import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {LEAVES, type LeafSpec} from '../pki/catalog.ts'
import {renewLeaf} from '../pki/leaf.ts'
import {readAuthorities} from '../trust/read-trust.ts'
import {findFiles} from './brought-leaves.ts'
import {isOfEtcd, leafOptions, ownCatalog} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {exclusively, type Tell} from './exclusive.ts'
import {backUp} from './back-up.ts'
import {planeCommand} from './plane-command.ts'
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

const LEAF_NAMES: readonly string[] = LEAVES.map(({id}) => id)

function requireName(name: string): void {
  if (name === 'all' || LEAF_NAMES.includes(name)) return
  throw new TrustError('USAGE', `there is no certificate "${name}"`, {
    hints: [...didYouMean(name, LEAF_NAMES), `use "all" or one of ${LEAF_NAMES.join(', ')}`],
  })
}

function leavesOf({dir}: Plane, all: readonly LeafSpec[], name: string): readonly LeafSpec[] {
  const leaves = all.filter(({id}) => name === 'all' || id === name)
  if (leaves.length > 0) return leaves
  throw new TrustError('NOT_FOUND', `this control plane has no certificate "${name}"`, {
    hints: [`create those of an etcd with "${planeCommand(dir, 'init phase certs etcd')}"`],
  })
}

/** Replaces certificates and their keys, however long the old ones are valid, and notifies a running server. */
export async function renewCertificates(
  plane: Plane,
  name: string,
  clock: Clock,
  tell?: Tell,
): Promise<RenewalReport> {
  requireName(name)
  return await exclusively(plane.dir, () => renew(plane, name, clock), tell)
}

async function renew(plane: Plane, name: string, clock: Clock): Promise<RenewalReport> {
  // Not earlier: a rotation may have changed which CA signs what.
  const catalog = await ownCatalog(plane)
  const leaves = leavesOf(plane, catalog.leaves, name)
  const skipsExternal = name === 'all'
  const authorities = await readAuthorities(certDirOf(plane), catalog)
  const report: RenewalReport = {renewed: [], skipped: [], backups: [], serverReloaded: false}
  for (const leaf of leaves) {
    const authority = authorities.get(leaf.authority)
    if (!authority) {
      throw new TrustError('NOT_FOUND', `there is no CA "${leaf.authority}" to sign "${leaf.id}"`, {
        hints: [`create what is missing with "${planeCommand(plane.dir, 'init phase certs')}"`],
      })
    }
    if (!authority.issuer && skipsExternal) {
      report.skipped.push(leaf.id)
      continue
    }
    const {files, isBrought} = await findFiles(plane, leaf)
    // It may have names that only its owner knows.
    if (isBrought && isOfEtcd(leaf) && name === 'all') continue
    if (isBrought) report.backups.push(await backUp(plane, files, clock.now()))
    const options = await leafOptions(plane, leaf)
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
