/** One object of a served kind, and what a real kubectl has to say and show of it. */
export interface Sample {
  /** As kubectl asks for it. */
  plural: string
  /** As kubectl names it when it has done something: `role.rbac.authorization.k8s.io`. */
  said: string
  manifest: Manifest
  /** The header and the row of `get -o wide`; AGE and TIME stand for what differs from run to run. */
  wide: {header: string; row: string}
  /** Lines of `describe`, however many spaces are between their words. */
  describes: string[]
  /** A patch, and what is then at a path. */
  patch: {type: 'strategic' | 'merge'; body: unknown; path: string; shows: string}
}

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: {name: string; labels?: Record<string, string>; annotations?: Record<string, string>}
  [field: string]: unknown
}

export const nameOf = ({manifest}: Sample): string => manifest.metadata.name

/** A List, which every kubectl reads from one input. */
export const asList = (manifests: Manifest[]): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'List', items: manifests})

export const manifestsOf = (samples: Sample[]): string =>
  asList(samples.map(({manifest}) => manifest))

/** The same object under another name, and with a label. */
export function renamed({manifest}: Sample, suffix: string): Manifest {
  const {metadata} = manifest
  return {...manifest, metadata: {...metadata, name: `${metadata.name}${suffix}`}}
}
