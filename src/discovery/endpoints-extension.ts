import {parseDocument} from 'yaml'
import {parseEndpoint} from './endpoint.ts'

/** The extension of a kubeconfig's cluster with its other addresses. Other programs ignore extensions that they do not know. */
const ENDPOINTS_EXTENSION = 'trustadm.io/endpoints'

export interface NamedExtension {
  name: string
  extension: {endpoints: string[]}
}

/** The `extensions` of a kubeconfig's cluster with its other addresses. */
export function endpointsExtension(endpoints: readonly string[]): NamedExtension[] {
  return endpoints.length === 0
    ? []
    : [{name: ENDPOINTS_EXTENSION, extension: {endpoints: [...endpoints]}}]
}

/** The other addresses in a kubeconfig that has been checked. Invalid addresses are ignored. */
export function readEndpoints(kubeconfig: string): string[] {
  const config = parseDocument(kubeconfig).toJS({maxAliasCount: 0}) as Config
  const extensions = config.clusters?.[0]?.cluster?.extensions
  if (!Array.isArray(extensions)) return []
  const found = (extensions as (Partial<NamedExtension> | null)[]).find(
    (extension) => extension?.name === ENDPOINTS_EXTENSION,
  )
  const endpoints: unknown = found?.extension?.endpoints
  return Array.isArray(endpoints) ? endpoints.flatMap(toEndpoint) : []
}

interface Config {
  clusters?: {cluster?: {extensions?: unknown}}[]
}

function toEndpoint(value: unknown): string[] {
  try {
    return typeof value === 'string' ? [parseEndpoint(value)] : []
  } catch {
    return []
  }
}
