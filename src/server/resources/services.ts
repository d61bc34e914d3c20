import type {AddressRange} from '../../pki/address-range.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../kernel/field-error.ts'
import type {Strategy} from '../kernel/resource.ts'
import {validateBySchema} from '../validation/by-schema.ts'
import {dns1035LabelName, dnsLabel} from '../validation/names.ts'
import {
  checkWith,
  ipAddress,
  portNumber,
  portReference,
  semanticallyEqual,
} from '../validation/values.ts'
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
import {allocate, linkFields, reallocate, validateAllocation} from './service-allocation.ts'
import type {Service, ServiceSpec} from '../../api/service.ts'
import {hasClusterIP, isExternal, isHeadless} from '../../api/service.ts'

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

/** A kubelet makes names of variables of the ports' names. */
function validatePorts(spec: ServiceSpec): FieldError[] {
  const ports = spec.ports ?? []
  if (ports.length === 0 && hasClusterIP(spec) && !isHeadless(spec)) return [required('spec.ports')]
  const names = new Set<string>()
  return ports.flatMap(({name = '', port = 0, targetPort}, index) => {
    const field = `spec.ports[${index}]`
    const repeated = name !== '' && names.has(name)
    names.add(name)
    return [
      ...(name === '' && ports.length > 1 ? [required(`${field}.name`)] : []),
      ...(name === '' ? [] : checkWith(dnsLabel, `${field}.name`, name)),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...portNumber(`${field}.port`, port),
      ...(targetPort === undefined ? [] : portReference(`${field}.targetPort`, targetPort)),
    ]
  })
}

function validateClusterIPs({type, clusterIP = '', clusterIPs = []}: ServiceSpec): FieldError[] {
  if (type === 'ExternalName') {
    const why = "may not be set when `type` is 'ExternalName'"
    const isSet = clusterIP !== '' || clusterIPs.length > 0
    return isSet ? [forbiddenField('spec.clusterIPs', why)] : []
  }
  if (clusterIP !== (clusterIPs[0] ?? '')) {
    const why = 'first value must match `clusterIP`'
    return [invalidValue('spec.clusterIPs[0]', clusterIPs[0] ?? '', why)]
  }
  // A second one would have to be of another family, for which there is no range.
  if (clusterIPs.length > 1) {
    const why = 'may specify no more than one IP for each IP family'
    return [invalidValue('spec.clusterIPs', clusterIPs, why)]
  }
  return clusterIP === '' || isHeadless({clusterIP})
    ? []
    : ipAddress('spec.clusterIPs[0]', clusterIP)
}

function validateNodePorts({type, ports = []}: ServiceSpec): FieldError[] {
  if (type !== 'ClusterIP') return []
  return ports.flatMap(({nodePort}, index) => {
    const why = "may not be used when `type` is 'ClusterIP'"
    return nodePort ? [forbiddenField(`spec.ports[${index}].nodePort`, why)] : []
  })
}

/** Names, and the addresses and ports that are given out. */
function validate(service: Service): FieldError[] {
  const {spec = {}} = service
  return [
    ...validatePorts(spec),
    ...validateBySchema('core/v1.Service', service),
    ...validateClusterIPs(spec),
    ...validateNodePorts(spec),
  ]
}

/** A service's address cannot change while it has one. */
function validateUpdate({spec = {}}: Service, {spec: old = {}}: Service): FieldError[] {
  if (!hasClusterIP(spec) || !hasClusterIP(old) || !old.clusterIPs?.length) return []
  return semanticallyEqual(spec.clusterIPs?.[0], old.clusterIPs[0])
    ? []
    : [invalidValue('spec.clusterIPs[0]', spec.clusterIPs ?? [], 'may not change once set')]
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
    return errors.length > 0 ? errors : validate(service)
  },
  prepareForUpdate: (service, old, context) => {
    keepStatus(service, old)
    linkFields(service, old)
    allocate(service, context, range)
  },
  validateUpdate,
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
    plural: 'services',
    type: 'core/v1.Service',
    shortNames: ['svc'],
    categories: ['all'],
    namespaced: true,
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
