import {parseDocument} from 'yaml'
import type {ApiObject} from '../../api/meta.ts'
import {type ApiClient, isOwnVersion} from '../../client/api-client.ts'
import type {CallOptions, ListOptions, ResourceType} from '../../client/resource-client.ts'
import type {Unknown} from '../../csr/opinion.ts'
import {hostOf} from '../../pki/catalog.ts'
import {type Cidr, parseCidr} from '../../pki/address-range.ts'
import {formOf} from './address-book.ts'
import type {ReservedBySettings} from './belief.ts'
import {isNotServed} from './optional-apis.ts'

/** The API server's names and addresses: no node may have a certificate for them, but one that is an API server for its own. */
export interface ApiServerFacts {
  /** Each in its normal form. */
  names: ReadonlySet<string>
  /** Where each API server says that it is, in the EndpointSlice that only API servers write. */
  endpoints: ReadonlySet<string>
  /** The host of the control-plane endpoint, which is not one server's. */
  shared: string | undefined
  serviceRanges: readonly Cidr[]
  /** Whether it records the address that requests come from. */
  attests: boolean
}

export type ApiServerReader = Pick<
  ApiClient,
  'configMaps' | 'services' | 'resource' | 'raw' | 'version' | 'serverNames'
>

/** The one that API servers keep; others with its label only reserve what they name. */
const OWN_SLICE = 'kubernetes'

interface EndpointSlice extends ApiObject {
  endpoints?: {addresses?: string[]}[]
}
interface ServiceCidr extends ApiObject {
  spec?: {cidrs?: string[]}
}

const SLICES: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  namespaced: true,
}
const SERVICE_CIDRS: ResourceType = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'servicecidrs',
  namespaced: false,
}

async function listWhereServed<T extends ApiObject>(
  client: ApiServerReader,
  type: ResourceType,
  options: ListOptions,
): Promise<T[]> {
  try {
    return (await client.resource<T>(type).list(options)).items
  } catch (error) {
    const {signal} = options
    if (await isNotServed(client, `${type.group}/${type.version}`, error, {signal})) return []
    throw error
  }
}

interface ClusterConfiguration {
  apiServer?: {certSANs?: unknown}
  controlPlaneEndpoint?: unknown
  networking?: {serviceSubnet?: unknown}
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

/** One range, or one of each family. */
export const subnetsOf = (text: string): string[] => text.split(',').map((one) => one.trim())

/**
 * What kubeadm and `trustadm init` have recorded about the cluster. Deleting it reserves no less: then the settings of this process count, or it
 * is not known what is reserved.
 */
async function configuration(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  settings: ReservedBySettings | undefined,
  options: CallOptions,
): Promise<(ReservedBySettings & {endpoint?: string}) | undefined> {
  const map = await configMaps.find({namespace: 'kube-system', name: 'kubeadm-config'}, options)
  const text = map?.data?.ClusterConfiguration ?? ''
  const read: unknown = parseDocument(text).toJS()
  if (typeof read !== 'object' || read === null) return settings
  const {apiServer, controlPlaneEndpoint: endpoint, networking} = read as ClusterConfiguration
  const subnet = networking?.serviceSubnet
  const host = typeof endpoint === 'string' && endpoint !== '' ? hostOf(endpoint) : undefined
  return {
    ...(host !== undefined && {endpoint: host}),
    names: [
      ...(settings?.names ?? []),
      ...texts(apiServer?.certSANs),
      ...(host === undefined ? [] : [host]),
    ],
    subnets: [
      ...(settings?.subnets ?? []),
      ...(typeof subnet === 'string' ? subnetsOf(subnet) : []),
    ],
  }
}

const NO_CONFIGURATION =
  'kube-system/kubeadm-config, which names what is reserved, is missing; "trustadm init phase kubeadm-config" publishes it'

/**
 * Reads everything through the API, so the result is the same for an approver in the server, one elsewhere, and
 * `certificate show`: the server's certificate on this connection, the Service and the EndpointSlices `default/kubernetes`, ServiceCIDRs,
 * and the ConfigMap kube-system/kubeadm-config. Without one of them or a service range the result is `Unknown`, with the reason.
 */
export async function readApiServer(
  client: ApiServerReader,
  {settings, ...options}: CallOptions & {settings?: ReservedBySettings | undefined} = {},
): Promise<ApiServerFacts | Unknown> {
  const {signal} = options
  const [{gitVersion}, service, slices, cidrs, configured] = await Promise.all([
    client.version(options),
    client.services.find({namespace: 'default', name: 'kubernetes'}, options),
    listWhereServed<EndpointSlice>(client, SLICES, {
      namespace: 'default',
      labelSelector: 'kubernetes.io/service-name=kubernetes',
      signal,
    }),
    listWhereServed<ServiceCidr>(client, SERVICE_CIDRS, {signal}),
    configuration(client, settings, options),
  ])
  const certified = client.serverNames()
  if (certified === undefined) return {unknown: "the API server's certificate was not seen"}
  if (configured === undefined) return {unknown: NO_CONFIGURATION}
  const subnets = [...cidrs.flatMap(({spec}) => spec?.cidrs ?? []), ...configured.subnets]
  const serviceRanges = subnets.map(parseCidr).filter((range) => range !== undefined)
  if (serviceRanges.length === 0) {
    return {unknown: 'neither a ServiceCIDR nor kube-system/kubeadm-config names the service range'}
  }
  const {clusterIP = '', clusterIPs = []} = service?.spec ?? {}
  const addressesOf = ({endpoints = []}: EndpointSlice) =>
    endpoints.flatMap(({addresses = []}) => addresses)
  const names = [
    ...certified.dns,
    ...certified.ips,
    ...configured.names,
    ...[clusterIP, ...clusterIPs],
    ...slices.flatMap(addressesOf),
  ]
  const own = slices.filter(({metadata}) => metadata.name === OWN_SLICE).flatMap(addressesOf)
  const {endpoint} = configured
  return {
    names: new Set(names.map(formOf)),
    endpoints: new Set(own.map(formOf)),
    shared: endpoint === undefined ? undefined : formOf(endpoint),
    serviceRanges,
    attests: isOwnVersion(gitVersion),
  }
}
