import type {AddressRange} from '../../pki/address-range.ts'
import type {Strategy} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {dns1035LabelName} from '../validation/names.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  labelsText,
  NAME,
  orNone,
  statusSubresource,
  wideColumn,
} from './define.ts'
import {allocate, reallocate, validateAllocation} from './service-allocation.ts'
import {linkFields} from './service-linked-fields.ts'
import type {Service} from '../../api/service.ts'
import {hasClusterIP, isExternal, isHeadless} from '../../api/service.ts'
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
  if (isExternal(spec)) spec.externalTrafficPolicy ??= 'Cluster'
  if (hasClusterIP(spec)) spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

const strategyFor = (range: AddressRange): Strategy<Service> => ({
  defaults,
  prepareForCreate: (service, context) => {
    allocate(service, context, range)
    service.status = {loadBalancer: {}}
  },
  validate: (service, context) => {
    // Specified addresses and ports are allocated before anything else is checked.
    const errors = validateAllocation(service, context, range)
    return errors.length > 0 ? errors : validateService(service)
  },
  prepareForUpdate: (service, old, context) => {
    keepStatus(service, old)
    linkFields(service, old)
    allocate(service, context, range)
  },
  validateUpdate: validateServiceUpdate,
  reallocate: (service, context) => reallocate(service, context, range),
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
    createOnUpdate: true,
    allocates: true,
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
