import type {Subresource} from '../kernel/resource.ts'
import {sortedSubresources, sortedVerbs} from './served.ts'
import type {ServedGroup, ServedResource} from './served.ts'

export type DiscoveryVersion = 'v2' | 'v2beta1'

/** Kubernetes leaves group and version empty if they are those of the document's own entry. */
const responseKind = (kind: string, group = '', version = '') => ({group, version, kind})

function subresourceEntry(
  {resource, version}: ServedResource,
  name: string,
  {kind: own, verbs}: Subresource,
) {
  const foreign = own !== undefined && (own.group !== resource.group || own.version !== version)
  return {
    subresource: name,
    responseKind: foreign
      ? responseKind(own.kind, own.group, own.version)
      : responseKind(own?.kind ?? resource.kind),
    verbs: sortedVerbs(verbs),
  }
}

function resourceEntry(served: ServedResource) {
  const {plural, singular, namespaced, kind, verbs, shortNames, categories} = served.resource
  const subresources = sortedSubresources(served.resource).map(([name, subresource]) =>
    subresourceEntry(served, name, subresource),
  )
  return {
    resource: plural,
    responseKind: responseKind(kind),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: sortedVerbs(verbs),
    ...(shortNames === undefined ? {} : {shortNames}),
    ...(categories === undefined ? {} : {categories}),
    ...(subresources.length === 0 ? {} : {subresources}),
  }
}

const groupEntry = ({group, versions}: ServedGroup) => ({
  metadata: group === '' ? {} : {name: group},
  versions: versions.map(({version, resources}) => ({
    version,
    resources: resources.map(resourceEntry),
    freshness: 'Current',
  })),
})

/** Everything a client needs to know of some groups in one document: APIGroupDiscoveryList. */
export const groupDiscoveryList = (groups: ServedGroup[], version: DiscoveryVersion) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: groups.map(groupEntry),
})
