import {join} from 'node:path'
import {isIP} from 'node:net'
import type {LeafOptions} from '../pki/leaf.ts'
import {readAuthority, type Authority} from '../pki/authority.ts'
import {
  AUTHORITIES,
  catalogFor,
  type AuthoritySpec,
  type Catalog,
  type CatalogContext,
  type LeafSpec,
  type Place,
} from '../pki/catalog.ts'
import {lookAt} from '../fs/file-checks.ts'
import {recoverFolder} from '../fs/file-groups.ts'
import {pairStore, type LeafStore} from '../pki/pair-store.ts'
import {NO_NAMES, namesOfHosts, type SubjectNames} from '../pki/subject-names.ts'
import {specOf} from './config/added-authorities.ts'
import {serviceRange} from './config/fields.ts'
import {certDirOf, endpointOf, hostOfEndpoint, type Plane} from './config/plane.ts'
import {localAddress} from './config/settings.ts'
import {kubeconfigStore} from './kubeconfig-store.ts'
import {notesMade, readMadeFiles, wasMade} from '../fs/made-files.ts'

/** The leaves that a control plane with the embedded store has, and where they are. Which CA signs each may change: see `readCatalog`. */
export const {leaves: ALL_LEAVES} = catalogFor()

/** The id of the CA with which machines and users verify the cluster. */
export const CLUSTER_CA = 'ca'
/** The id of the CA of clients, once they have one of their own. */
export const CLIENT_CA = 'client-ca'
/** The id of the CA of those who call kubelets, once they have one of their own. */
export const KUBELET_CA = 'kubelet-ca'
export const KUBELET_SERVING_CA = 'kubelet-serving-ca'

const addedSpecs = ({settings}: Plane): AuthoritySpec[] => settings.authorities.map(specOf)

/** Every CA that a control plane may have, with those that an operator has added. */
export const specsOf = (plane: Plane): AuthoritySpec[] => [...AUTHORITIES, ...addedSpecs(plane)]

/** The CAs and leaves of a control plane as they are now: after the first rotation, clients have CAs of their own. */
export async function readCatalog(plane: Plane): Promise<Catalog> {
  const {place} = AUTHORITIES.find(({id}) => id === CLIENT_CA) ?? {}
  const certDir = certDirOf(plane)
  await recoverFolder(certDir)
  const found = place && (await lookAt(join(certDir, place.crt)))
  const {authorities, leaves} = catalogFor({separateClients: found !== undefined})
  return {authorities: [...authorities, ...addedSpecs(plane)], leaves}
}

/** Whether an entry belongs to an etcd, which no server of ours is. */
export const isOfEtcd = ({when}: Pick<LeafSpec, 'when'>): boolean => when === 'external-etcd'

/** The same, with what an etcd of this machine could have: see `init phase certs etcd`. */
export async function possibleCatalog(plane: Plane): Promise<Catalog> {
  const own = await readCatalog(plane)
  const {authorities, leaves} = catalogFor({externalEtcd: true})
  return {
    authorities: [...own.authorities, ...authorities.filter(isOfEtcd)],
    leaves: [...own.leaves, ...leaves.filter(isOfEtcd)],
  }
}

/** The CAs and leaves of a control plane, and of its etcd those that are there. */
export async function wholeCatalog(
  plane: Plane,
  isWanted: (entry: AuthoritySpec | LeafSpec) => boolean = () => true,
): Promise<Catalog> {
  const {authorities, leaves} = await possibleCatalog(plane)
  const certDir = certDirOf(plane)
  const isThere = async (entry: AuthoritySpec | LeafSpec): Promise<boolean> =>
    !isOfEtcd(entry) ||
    (entry.place.kind === 'pair' && (await lookAt(join(certDir, entry.place.crt))) !== undefined)
  const present = async <Entry extends AuthoritySpec | LeafSpec>(entries: readonly Entry[]) => {
    const wanted = entries.filter(isWanted)
    const found = await Promise.all(wanted.map(isThere))
    return wanted.filter((_, index) => found[index])
  }
  return {authorities: await present(authorities), leaves: await present(leaves)}
}

/**
 * The same, without what an operator provided for an etcd: another user may read its keys, and only its owner knows what it must
 * contain.
 */
export async function ownCatalog(plane: Plane): Promise<Catalog> {
  const made = await readMadeFiles(plane)
  const isOwn = (entry: AuthoritySpec | LeafSpec): boolean =>
    !isOfEtcd(entry) ||
    (entry.place.kind === 'pair' && wasMade(plane, made, join(certDirOf(plane), entry.place.crt)))
  const {authorities, leaves} = await wholeCatalog(plane, isOwn)
  const isKnown = ({authority}: LeafSpec) => authorities.some(({id}) => id === authority)
  return {authorities, leaves: leaves.filter((leaf) => !isOfEtcd(leaf) || isKnown(leaf))}
}

/** A CA of the catalog, by its id; undefined before it is created. */
export async function findAuthority(plane: Plane, id: string): Promise<Authority | undefined> {
  const spec = specsOf(plane).find((one) => one.id === id)
  return spec && (await readAuthority(certDirOf(plane), spec))
}

/** The CAs with which clients verify the API server, as PEM; undefined before there is one. */
export const rootsOf = async (plane: Plane): Promise<string | undefined> =>
  (await findAuthority(plane, CLUSTER_CA))?.bundlePem

/** What the names in the certificates depend on. */
export function catalogContext({settings}: Plane): CatalogContext {
  const {nodeName, advertiseAddress, controlPlaneEndpoint, certSANs, dnsDomain} = settings
  const local = localAddress(settings)
  return {
    nodeName,
    advertiseAddress,
    ...(controlPlaneEndpoint === undefined ? {} : {controlPlaneEndpoint}),
    extraNames: isIP(local) === 0 ? certSANs : [...certSANs, local],
    serviceAddress: serviceRange(settings.serviceSubnet).first,
    dnsDomain,
  }
}

/** The names that the server's certificate must have, whoever created it: the address that clients use, and those in the settings. */
export function neededNames(plane: Plane, leaf: LeafSpec): Readonly<SubjectNames> {
  return leaf.usages.includes('server auth') && !isOfEtcd(leaf)
    ? namesOfHosts([hostOfEndpoint(plane), ...plane.settings.certSANs])
    : NO_NAMES
}

/** Opens the location of a leaf, a pair of files or a kubeconfig. What is written there is recorded as created by trustadm. */
export function openStore(plane: Plane): (place: Place) => LeafStore {
  const note = notesMade(plane)
  return (place) =>
    place.kind === 'pair'
      ? pairStore(certDirOf(plane), place, note)
      : kubeconfigStore(
          join(plane.dir, place.file),
          {server: endpointOf(plane), clusterName: plane.settings.clusterName},
          note,
        )
}

export async function leafOptions(
  plane: Plane,
  leaf: LeafSpec,
): Promise<LeafOptions & {context: CatalogContext}> {
  return {
    store: openStore(plane)(leaf.place),
    caPem: await rootsOf(plane),
    algorithm: plane.settings.keyAlgorithm,
    lifetime: plane.settings.certificateValidityPeriod,
    context: catalogContext(plane),
  }
}
