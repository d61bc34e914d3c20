import type {ApiObject} from '../../api/meta.ts'
import type {ResourceRequestInfo} from '../authz/request-info.ts'
import type {Resource, Subresource, Verb} from '../kernel/resource.ts'
import {methodNotAllowed, unknownResource} from '../kernel/status.ts'

/** The target of a request: a resource in one of its served versions, perhaps a subresource. */
export interface Route {
  resource: Resource
  subresource: Subresource | undefined
  /** The name of the served version's type in the schema table. */
  type: string
  /** The served version's own defaults. */
  defaults?: (object: ApiObject) => void
  /** The warning for users of this version. */
  warnings: string[]
}

/** The table of resources, by group, version and plural. */
export class RouteTable {
  readonly #served = new Map<string, Route>()
  readonly #groups: ReadonlySet<string>

  constructor(resources: readonly Resource[]) {
    this.#groups = new Set(resources.map(({group}) => group))
    for (const resource of resources) {
      const {group, plural, version, type, extraVersions = []} = resource
      this.#served.set(`${group}/${version}/${plural}`, {
        resource,
        subresource: undefined,
        type,
        warnings: [],
      })
      for (const extra of extraVersions) {
        this.#served.set(`${group}/${extra.version}/${plural}`, {
          resource,
          subresource: undefined,
          type: extra.type,
          ...(extra.defaults === undefined ? {} : {defaults: extra.defaults}),
          warnings: extra.deprecation === undefined ? [] : [extra.deprecation],
        })
      }
    }
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group)
  }

  /** Throws if the path names no resource, or if the resource does not support the verb. */
  find(info: ResourceRequestInfo): Route {
    const served = this.#served.get(`${info.group}/${info.version}/${info.resource}`)
    if (served === undefined || info.rest.length > 0) throw unknownResource()
    const {resource} = served
    if (!fitsScope(resource, info)) throw unknownResource()
    if (info.subresource === '') {
      requireVerb(resource.verbs, info.verb)
      if (!fitsPath(resource, info)) throw methodNotAllowed()
      return served
    }
    const subresource = resource.subresources?.[info.subresource]
    if (subresource === undefined) throw unknownResource()
    requireVerb(subresource.verbs, info.verb)
    return {...served, subresource}
  }
}

function requireVerb(verbs: Verb[], verb: string): void {
  if (!verbs.some((one) => one === verb)) throw methodNotAllowed()
}

/**
 * Cluster-scoped resources have no namespace in their path. Namespaced ones may omit it only for lists and watches of all
 * namespaces.
 */
function fitsScope(resource: Resource, info: ResourceRequestInfo): boolean {
  if (!resource.namespaced) return !info.inNamespace
  return info.inNamespace || !info.named
}

/** Creates go to the collection, in a namespace if the kind has one. Other writes go to an object. */
function fitsPath(resource: Resource, info: ResourceRequestInfo): boolean {
  switch (info.verb) {
    case 'create':
      return !info.named && resource.namespaced === info.inNamespace
    case 'update':
    case 'patch':
    case 'delete':
      return info.named
    // Only lists and watches can cover all namespaces.
    case 'deletecollection':
      return resource.namespaced === info.inNamespace
    default:
      return true
  }
}
