import type {ApiRequest, ApiResponse} from '../kernel/api-request.ts'
import type {Resource, Subresource} from '../kernel/resource.ts'
import {parseAccept} from '../table/negotiate.ts'
import {lazyDocument, respondWith, type DocumentSource} from './cached-document.ts'
import {apiGroup, apiGroupList, apiResourceList, apiVersions} from './legacy.ts'
import {
  servedGroups,
  type ServedGroup,
  sortedSubresources,
  sortedVerbs,
  type ServedResource,
} from './served.ts'

/** The response to a GET of a discovery path; undefined if the path is another one. */
export type Discovery = (request: Pick<ApiRequest, 'headers' | 'path'>) => ApiResponse | undefined

const JSON_TYPE = 'application/json'

const aggregatedType = (version: DiscoveryVersion) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

/** The aggregated form that the caller prefers; undefined if it is the legacy one. */
function aggregatedVersion(accept: string | undefined): DiscoveryVersion | undefined {
  if (!accept?.includes('APIGroupDiscoveryList')) return undefined
  for (const {mediaType, parameters} of parseAccept(accept)) {
    const kind = parameters.get('as')
    const version = parameters.get('v')
    if (mediaType === JSON_TYPE && kind === undefined) return undefined
    if (
      mediaType === JSON_TYPE &&
      kind === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      (version === 'v2' || version === 'v2beta1')
    ) {
      return version
    }
  }
  return undefined
}

interface RootDocuments {
  legacy: DocumentSource
  v2: DocumentSource
  v2beta1: DocumentSource
}

const rootDocuments = (groups: ServedGroup[], legacy: () => object): RootDocuments => ({
  legacy: lazyDocument(JSON_TYPE, legacy),
  v2: lazyDocument(aggregatedType('v2'), () => groupDiscoveryList(groups, 'v2')),
  v2beta1: lazyDocument(aggregatedType('v2beta1'), () => groupDiscoveryList(groups, 'v2beta1')),
})

function versionDocuments(groups: ServedGroup[]): Map<string, DocumentSource> {
  const documents = new Map<string, DocumentSource>()
  for (const served of groups) {
    const root = served.group === '' ? '/api' : `/apis/${served.group}`
    if (served.group !== '') {
      documents.set(
        root,
        lazyDocument(JSON_TYPE, () => apiGroup(served)),
      )
    }
    for (const version of served.versions) {
      documents.set(
        `${root}/${version.version}`,
        lazyDocument(JSON_TYPE, () => apiResourceList(version)),
      )
    }
  }
  return documents
}

/**
 * The discovery documents of the table of resources: `/api` and `/apis`, legacy or aggregated by Accept, and one for each
 * group and version. `serverAddress` is the host and port that clients should use.
 */
export function createDiscovery(resources: readonly Resource[], serverAddress: string): Discovery {
  const groups = servedGroups(resources)
  const core = groups.filter(({group}) => group === '')
  const named = groups.filter(({group}) => group !== '')
  const roots = new Map<string, RootDocuments>([
    ['/api', rootDocuments(core, () => apiVersions(groups, serverAddress))],
    ['/apis', rootDocuments(named, () => apiGroupList(groups))],
  ])
  const documents = versionDocuments(groups)

  return (request) => {
    const path = request.path.endsWith('/') ? request.path.slice(0, -1) : request.path
    const root = roots.get(path)
    if (root !== undefined) {
      const version = aggregatedVersion(request.headers.accept)
      return version === undefined
        ? respondWith(root.legacy(), request, 'no-cache, private')
        : respondWith(root[version](), request)
    }
    const document = documents.get(path)
    return document && respondWith(document(), request, 'no-cache, private')
  }
}

type DiscoveryVersion = 'v2' | 'v2beta1'

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
const groupDiscoveryList = (groups: ServedGroup[], version: DiscoveryVersion) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: groups.map(groupEntry),
})
