import {createHash} from 'node:crypto'

import {groupVersion} from '../kernel/resource.ts'
import type {Resource, Subresource} from '../kernel/resource.ts'
import {sortedSubresources, sortedVerbs} from './served.ts'
import type {ServedGroup, ServedResource, ServedVersion} from './served.ts'

/** An entry of an APIResourceList. */
export interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  /** With version: only if the kind is of another group. */
  group?: string
  version?: string
  kind: string
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
  storageVersionHash?: string
}

/** What clients tell stored versions apart by: the first 8 bytes of SHA-256 of group/version/kind. */
const storageVersionHash = ({group, version, kind}: Resource): string =>
  createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64')

function mainEntry({resource}: ServedResource): ApiResource {
  const {plural, singular, namespaced, kind, verbs, shortNames, categories, review} = resource
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: sortedVerbs(verbs),
    ...(shortNames === undefined ? {} : {shortNames}),
    ...(categories === undefined ? {} : {categories}),
    // Reviews are not stored.
    ...(review === undefined ? {storageVersionHash: storageVersionHash(resource)} : {}),
  }
}

function subresourceEntry(
  {resource, version}: ServedResource,
  name: string,
  {kind: own, verbs}: Subresource,
): ApiResource {
  const foreign = own !== undefined && (own.group !== resource.group || own.version !== version)
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(foreign ? {group: own.group, version: own.version} : {}),
    kind: own?.kind ?? resource.kind,
    verbs: sortedVerbs(verbs),
  }
}

const entries = (served: ServedResource): ApiResource[] => [
  mainEntry(served),
  ...sortedSubresources(served.resource).map(([name, subresource]) =>
    subresourceEntry(served, name, subresource),
  ),
]

/** `/api/v1` and `/apis/<group>/<version>`. */
export const apiResourceList = (served: ServedVersion) => ({
  kind: 'APIResourceList',
  // The core group's document has no apiVersion, for the sake of clients older than it.
  ...(served.group === '' ? {} : {apiVersion: 'v1'}),
  groupVersion: groupVersion(served),
  resources: served.resources.flatMap(entries),
})

const versionEntry = (served: ServedVersion) => ({
  groupVersion: groupVersion(served),
  version: served.version,
})

function groupEntry({group, versions}: ServedGroup) {
  const [preferred] = versions
  return {
    name: group,
    versions: versions.map(versionEntry),
    ...(preferred === undefined ? {} : {preferredVersion: versionEntry(preferred)}),
  }
}

/** `/apis/<group>`. */
export const apiGroup = (served: ServedGroup) => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupEntry(served),
})

/** `/apis`. */
export const apiGroupList = (groups: ServedGroup[]) => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter(({group}) => group !== '').map(groupEntry),
})

/** `/api`. */
export const apiVersions = (groups: ServedGroup[], serverAddress: string) => ({
  kind: 'APIVersions',
  versions: groups
    .filter(({group}) => group === '')
    .flatMap(({versions}) => versions.map(({version}) => version)),
  serverAddressByClientCIDRs: [{clientCIDR: '0.0.0.0/0', serverAddress}],
})
