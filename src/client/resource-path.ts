import {
  type ObjectKey,
  pathSegment,
  type ResourceType,
  type SelectOptions,
  type WriteOptions,
} from './resource-client.ts'

export function apiVersionOf({group, version}: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** The path of all objects of a resource: in one namespace, or in all. */
export function collectionPath(type: ResourceType, namespace: string | undefined): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${apiVersionOf(type)}`
  const inside = type.namespaced && namespace ? `/namespaces/${pathSegment(namespace)}` : ''
  return `${root}${inside}/${type.plural}`
}

export function objectPath(
  type: ResourceType,
  {name, namespace}: ObjectKey,
  subresource?: string,
): string {
  const path = `${collectionPath(type, namespace)}/${pathSegment(name)}`
  return subresource === undefined ? path : `${path}/${pathSegment(subresource)}`
}

/** A query of the values that are defined. */
export function queryOf(
  values: Record<string, string | number | boolean | undefined>,
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query
}

export function selectQuery({labelSelector, fieldSelector}: SelectOptions) {
  return {labelSelector, fieldSelector}
}

export function writeQuery({fieldManager, dryRun}: WriteOptions) {
  return {fieldManager, dryRun: dryRun ? 'All' : undefined}
}
