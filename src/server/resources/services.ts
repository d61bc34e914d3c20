import type {AddressRange} from '../../pki/address-range.ts'
import type {Strategy} from '../resource.ts'
import {ALL_VERBS} from '../resource.ts'
import {dns1035LabelName} from '../validation/names.ts'
import {AGE, NAME, column, labelsText, orNone, wideColumn} from './columns.ts'
import {defineResource, keepStatus, statusSubresource} from './define.ts'
import {allocate, validateAllocation} from './service-allocation.ts'
import type {Service, ServiceSpec} from './service-types.ts'
import {hasClusterIP, hasNodePorts, isHeadless} from './service-types.ts'
import {validateService, validateServiceUpdate} from './service-validation.ts'

const AFFINITY_SECONDS = 10_800

function defaults(service: Service): void {
  const spec = (service.spec ??= {})
  spec.sessionAffinity ??= 'None'
  if (spec.sessionAffinity === 'ClientIP') {
    spec.sessionAffinityConfig = {
      clientIP: {timeoutSeconds: AFFINITY_SECONDS, ...spec.sessionAffinityConfig?.clientIP},
    }
  }
  spec.type ??= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP'
    if (!port.targetPort && port.port !== undefined) port.targetPort = port.port
  }
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') {
    spec.externalTrafficPolicy ??= 'Cluster'
  }
  if (hasClusterIP(spec)) spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

/** A client that does not know what was allocated does not lose it by an update. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterIP(spec) && hasClusterIP(old)) {
    if (!spec.clusterIP && !spec.clusterIPs?.length) {
      if (old.clusterIP) spec.clusterIP = old.clusterIP
      if (old.clusterIPs) spec.clusterIPs = [...old.clusterIPs]
    } else if (spec.clusterIP && !spec.clusterIPs?.length) {
      spec.clusterIPs = [spec.clusterIP]
    }
    spec.ipFamilyPolicy ??= old.ipFamilyPolicy ?? 'SingleStack'
    if (!spec.ipFamilies?.length && old.ipFamilies) spec.ipFamilies = [...old.ipFamilies]
  }
  if (!hasNodePorts(spec) || !hasNodePorts(old)) return
  const nodePorts = new Map(
    old.ports?.map(({protocol, port, nodePort}) => [`${protocol ?? ''} ${port ?? 0}`, nodePort]),
  )
  for (const port of spec.ports ?? []) {
    const kept = nodePorts.get(`${port.protocol ?? ''} ${port.port ?? 0}`)
    if (!port.nodePort && kept) port.nodePort = kept
  }
}

const strategyFor = (range: AddressRange): Strategy<Service> => ({
  defaults,
  prepareForCreate: (service, context) => {
    allocate(service, context, range)
    service.status = {loadBalancer: {}}
  },
  validate: (service, context) => [
    ...validateService(service),
    ...validateAllocation(service, context, range),
  ],
  prepareForUpdate: (service, old, context) => {
    keepStatus(service, old)
    if (service.spec && old.spec) keepAllocated(service.spec, old.spec)
    allocate(service, context, range)
  },
  validateUpdate: validateServiceUpdate,
})

function externalText({spec = {}, status}: Service): string {
  const given = spec.externalIPs ?? []
  if (spec.type === 'ExternalName') return spec.externalName ?? ''
  if (spec.type !== 'LoadBalancer') return orNone(given.join(','))
  const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ip, hostname}) =>
    ip ? [ip] : hostname ? [hostname] : [],
  )
  const all = [...[...new Set(ingress)].sort(), ...given].join(',')
  return all === '' ? '<pending>' : all
}

const portsText = ({spec}: Service) =>
  orNone(
    (spec?.ports ?? [])
      .map(({port = 0, nodePort = 0, protocol = ''}) =>
        nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
      )
      .join(','),
  )

/** The row of services, which get their addresses from a range. */
export const services = (range: AddressRange) =>
  defineResource<Service>({
    group: '',
    version: 'v1',
    plural: 'services',
    singular: 'service',
    kind: 'Service',
    type: 'core/v1.Service',
    shortNames: ['svc'],
    categories: ['all'],
    namespaced: true,
    verbs: ALL_VERBS,
    validateName: dns1035LabelName,
    strategy: strategyFor(range),
    subresources: {status: statusSubresource<Service>()},
    fields: {
      'spec.clusterIP': ({spec}) => spec?.clusterIP ?? '',
      'spec.type': ({spec}) => spec?.type ?? '',
    },
    columns: [
      NAME,
      column('Type', 'How it is reached.', ({spec}) => spec?.type ?? ''),
      column('Cluster-IP', 'Its address in the cluster.', ({spec}) =>
        spec && isHeadless(spec) ? 'None' : orNone(spec?.clusterIPs?.[0] ?? spec?.clusterIP),
      ),
      column('External-IP', 'Its addresses outside the cluster.', externalText),
      column('Port(s)', 'Its ports.', portsText),
      AGE,
      wideColumn('Selector', 'The labels of its pods.', ({spec}) => labelsText(spec?.selector)),
    ],
  })
