import {join} from 'node:path'
import {isIP} from 'node:net'
import type {LeafOptions} from '../pki/leaf.ts'
import {readAuthority, type Authority} from '../pki/authority.ts'
import {catalogFor, type CatalogContext, type LeafSpec, type Place} from '../pki/catalog.ts'
import {pairStore, type LeafStore} from '../pki/pair-store.ts'
import {NO_NAMES, namesOfHosts, type SubjectNames} from '../pki/subject-names.ts'
import {serviceRange} from './config/fields.ts'
import {certDirOf, endpointOf, hostOfEndpoint, type Plane} from './config/plane.ts'
import {localAddress} from './config/settings.ts'
import {kubeconfigStore} from './kubeconfig-store.ts'
import {notesMade} from './made-files.ts'

/** The CAs and leaves that a control plane with the embedded store has. */
export const CATALOG = catalogFor()

/** The id of the CA with which machines and users verify the cluster. */
export const CLUSTER_CA = 'ca'

/** A CA of the catalog, by its id; undefined before it is created. */
export async function findAuthority(plane: Plane, id: string): Promise<Authority | undefined> {
  const spec = CATALOG.authorities.find((one) => one.id === id)
  return spec && (await readAuthority(certDirOf(plane), spec))
}

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

/** The names that a serving certificate must have, whoever created it: the address that clients use, and those in the settings. */
export function neededNames(plane: Plane, {usages}: LeafSpec): Readonly<SubjectNames> {
  return usages.includes('server auth')
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

export function leafOptions(plane: Plane, leaf: LeafSpec): LeafOptions & {context: CatalogContext} {
  return {
    store: openStore(plane)(leaf.place),
    algorithm: plane.settings.keyAlgorithm,
    lifetime: plane.settings.certificateValidityPeriod,
    context: catalogContext(plane),
  }
}
