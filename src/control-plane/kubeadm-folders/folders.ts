import {dirname, join, resolve} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {
  AUTHORITIES,
  catalogFor,
  type Catalog,
  type LeafSpec,
  type Place,
} from '../../pki/catalog.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {pairStore, type LeafStore} from '../../pki/pair-store.ts'
import {kubeconfigStore, targetOf, type KubeconfigTarget} from '../kubeconfig-store.ts'

/** Where kubeadm keeps the files of a control plane: /etc/kubernetes/pki and /etc/kubernetes. */
export interface KubeadmFolders {
  certDir: string
  kubeconfigDir: string
}

interface FolderChoices {
  certDir?: string | undefined
  kubeconfigDir?: string | undefined
}

/** The folders that were named: each has its usual place beside the other. Undefined if none was. */
export function foldersOf({certDir, kubeconfigDir}: FolderChoices): KubeadmFolders | undefined {
  if (certDir !== undefined) {
    const folder = resolve(certDir)
    return {certDir: folder, kubeconfigDir: resolve(kubeconfigDir ?? dirname(folder))}
  }
  if (kubeconfigDir === undefined) return undefined
  return {certDir: join(resolve(kubeconfigDir), 'pki'), kubeconfigDir: resolve(kubeconfigDir)}
}

/** kubeadm has these, and none of the others of ours. */
const KUBEADM_AUTHORITIES = ['ca', 'front-proxy-ca', 'etcd-ca']
/** Not in every version, and not with every etcd. */
const OPTIONAL = ['super-admin.conf', 'apiserver-etcd-client']

const pathOf = ({certDir, kubeconfigDir}: KubeadmFolders, place: Place): string =>
  place.kind === 'pair' ? join(certDir, place.crt) : join(kubeconfigDir, place.file)

/** Where kubeconfigs lead whose own file is gone: to where the others lead. */
async function commonTarget(folders: KubeadmFolders): Promise<KubeconfigTarget | undefined> {
  for (const name of ['admin.conf', 'super-admin.conf', 'controller-manager.conf']) {
    const found = await targetOf(join(folders.kubeconfigDir, name))
    if (found) return found
  }
  return undefined
}

/** What a kubeadm control plane has, and how its files are read and written. */
export interface KubeadmFiles {
  folders: KubeadmFolders
  catalog: Catalog
  openStore: (place: Place) => LeafStore
  /** The server and the cluster's name, as admin.conf has them. */
  target: KubeconfigTarget
}

/** Reads a kubeadm control plane. Subjects are those of its certificates: kubeadm's differ between versions and machines. */
export async function readKubeadmFiles(folders: KubeadmFolders): Promise<KubeadmFiles> {
  const {certDir} = folders
  if (!(await lookAt(join(certDir, 'ca.crt')))) {
    throw new TrustError('NOT_FOUND', `there is no ca.crt in ${certDir}`, {
      hints: ['name the folder of the certificates with --cert-dir, usually /etc/kubernetes/pki'],
    })
  }
  const target = (await commonTarget(folders)) ?? {server: '', clusterName: 'kubernetes'}
  const hasEtcd = (await lookAt(join(certDir, 'etcd', 'ca.crt'))) !== undefined
  const all = catalogFor({externalEtcd: hasEtcd})
  const targets = new Map<string, KubeconfigTarget>()
  const openStore = (place: Place): LeafStore =>
    place.kind === 'pair'
      ? pairStore(certDir, place)
      : kubeconfigStore(pathOf(folders, place), targets.get(place.file) ?? target)
  const leaves: LeafSpec[] = []
  for (const leaf of all.leaves) {
    const isThere = (await lookAt(pathOf(folders, leaf.place))) !== undefined
    const isOptional = OPTIONAL.includes(leaf.id) || leaf.authority === 'etcd-ca'
    if (!isThere && isOptional) continue
    if (leaf.place.kind === 'kubeconfig') {
      const own = await targetOf(pathOf(folders, leaf.place))
      if (own) targets.set(leaf.place.file, own)
    }
    leaves.push(await withOwnSubject(leaf, openStore(leaf.place)))
  }
  const authorities = AUTHORITIES.filter(
    ({id}) => KUBEADM_AUTHORITIES.includes(id) && (id !== 'etcd-ca' || hasEtcd),
  )
  return {folders, catalog: {authorities, leaves}, openStore, target}
}

async function withOwnSubject(leaf: LeafSpec, store: LeafStore): Promise<LeafSpec> {
  const {certificatePem} = (await store.read().catch(() => undefined)) ?? {}
  try {
    if (certificatePem === undefined) return leaf
    const {commonName, organizations} = parseCertificate(certificatePem).subject
    return {...leaf, subject: {commonName, organizations: [...organizations]}}
  } catch {
    // Reported when it is inspected.
    return leaf
  }
}
