import {join} from 'node:path'
import {didYouMean} from '../../closest.ts'
import {TrustError} from '../../errors.ts'
import {lockFolderWhenFree} from '../../fs/folder-lock.ts'
import {removeLeftovers} from '../../fs/temporary-names.ts'
import type {LeafSpec} from '../../pki/catalog.ts'
import {algorithmOf} from '../../pki/certificate.ts'
import {renewLeaf} from '../../pki/leaf.ts'
import type {LeafStore} from '../../pki/pair-store.ts'
import type {KeyAlgorithm} from '../../pki/keys.ts'
import type {Clock} from '../../runtime.ts'
import {readAuthorities} from '../../trust/read-trust.ts'
import {CLUSTER_CA} from '../certificates.ts'
import type {Tell} from '../exclusive.ts'
import type {RenewalReport} from '../renew.ts'
import {readKubeadmFiles, type KubeadmFiles, type KubeadmFolders} from './folders.ts'

const LOCK = '.trustadm-lock'

function leavesNamed({catalog: {leaves}}: KubeadmFiles, name: string): readonly LeafSpec[] {
  const found = name === 'all' ? leaves : leaves.filter(({id}) => id === name)
  if (found.length > 0) return found
  const names = leaves.map(({id}) => id)
  throw new TrustError('USAGE', `there is no certificate "${name}"`, {
    hints: [...didYouMean(name, names), `use "all" or one of ${names.join(', ')}`],
  })
}

/** The kind of key that the old certificate has: kubeadm's own is RSA. */
async function algorithmIn(store: LeafStore): Promise<KeyAlgorithm> {
  const {certificatePem} = (await store.read()) ?? {}
  return (certificatePem === undefined ? undefined : algorithmOf(certificatePem)) ?? 'RSA-2048'
}

/** Replaces certificates of a kubeadm control plane as kubeadm does: with the subject, the names and the kind of key of the old ones. */
export async function renewKubeadmCertificates(
  folders: KubeadmFolders,
  name: string,
  clock: Clock,
  tell: Tell,
): Promise<RenewalReport> {
  leavesNamed(await readKubeadmFiles(folders), name)
  const release = await lockFolderWhenFree(join(folders.certDir, LOCK), {
    what: 'the same certificates',
    tell,
  })
  try {
    await removeLeftovers(folders.certDir)
    const files = await readKubeadmFiles(folders)
    const report = await renewAll(files, leavesNamed(files, name), name === 'all', clock)
    if (report.renewed.length > 0) {
      tell(
        'restart kube-apiserver, kube-controller-manager, kube-scheduler and etcd, so that they use the new certificates',
      )
    }
    return report
  } finally {
    await release()
  }
}

async function renewAll(
  {folders, catalog, openStore}: KubeadmFiles,
  leaves: readonly LeafSpec[],
  skipsExternal: boolean,
  clock: Clock,
): Promise<RenewalReport> {
  const authorities = await readAuthorities(folders.certDir, catalog)
  const caPem = authorities.get(CLUSTER_CA)?.bundlePem
  const report: RenewalReport = {renewed: [], skipped: [], backups: [], serverReloaded: false}
  for (const leaf of leaves) {
    const authority = authorities.get(leaf.authority)
    if (!authority || (!authority.issuer && skipsExternal)) {
      report.skipped.push(leaf.id)
      continue
    }
    const store = openStore(leaf.place)
    const options = {store, caPem, algorithm: await algorithmIn(store)}
    const {location, certificate} = await renewLeaf(authority, leaf, options, clock)
    const expirationDate = certificate.notAfter.toISOString()
    report.renewed.push({name: leaf.id, location, expirationDate})
  }
  return report
}
