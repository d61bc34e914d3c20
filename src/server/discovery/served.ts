import {compareTexts} from '../kernel/json-value.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import type {Resource, Verb} from '../kernel/resource.ts'

/** A resource in one of the versions that it is served by. */
export interface ServedResource {
  group: string
  version: string
  /** The name of the kind's type in the schema table, in this version. */
  type: string
  resource: Resource
}

export interface ServedVersion {
  group: string
  version: string
  /** In the order of their names. */
  resources: ServedResource[]
}

export interface ServedGroup {
  group: string
  /** The preferred version first. */
  versions: ServedVersion[]
}

/** Kubernetes' order of its groups, by the priorities of its API services; groups that it does not have come last. */
const GROUP_ORDER = [
  '',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
]

const groupRank = (group: string) => {
  const rank = GROUP_ORDER.indexOf(group)
  return rank < 0 ? GROUP_ORDER.length : rank
}

/** Stable before beta before alpha, then the higher number first: Kubernetes' order of versions. */
function versionRank(version: string): number {
  const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  const stability = stage === undefined ? 2 : stage === 'beta' ? 1 : 0
  return stability * 1e6 + Number(major) * 1e3 + Number(minor)
}

const inEveryVersion = (resource: Resource): ServedResource[] =>
  [{version: resource.version, type: resource.type}, ...(resource.extraVersions ?? [])].map(
    ({version, type}) => ({group: resource.group, version, type, resource}),
  )

/** The table of resources by group and version, in the order in which discovery lists them. */
export function servedGroups(resources: readonly Resource[]): ServedGroup[] {
  const served = resources.flatMap(inEveryVersion)
  const groups = [...new Set(served.map(({group}) => group))].sort(
    (a, b) => groupRank(a) - groupRank(b) || compareTexts(a, b),
  )
  return groups.map((group) => {
    const ofGroup = served.filter((one) => one.group === group)
    const versions = [...new Set(ofGroup.map(({version}) => version))].sort(
      (a, b) => versionRank(b) - versionRank(a),
    )
    return {
      group,
      versions: versions.map((version) => ({
        group,
        version,
        resources: ofGroup
          .filter((one) => one.version === version)
          .sort((a, b) => compareTexts(a.resource.plural, b.resource.plural)),
      })),
    }
  })
}

/** Discovery lists verbs in alphabetical order. */
export const sortedVerbs = (verbs: readonly Verb[]): Verb[] =>
  ALL_VERBS.filter((verb) => verbs.includes(verb))

/** The subresources of a resource, in the order of their names. */
export const sortedSubresources = ({subresources = {}}: Resource) =>
  Object.entries(subresources).sort(([a], [b]) => compareTexts(a, b))
