import {isIP} from 'node:net'

import type {FieldError} from '../kernel/field-error.ts'
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../kernel/field-error.ts'
import {
  checkWith,
  ipAddress,
  oneOf,
  portNumber,
  portReference,
  PROTOCOLS,
  requiredWith,
  semanticallyEqual,
} from '../validation/values.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsLabel, dnsSubdomain} from '../validation/names.ts'
import type {Service, ServicePort, ServiceSpec} from '../../api/service.ts'
import {hasClusterIP, isExternal, isHeadless} from '../../api/service.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const POLICIES = ['Cluster', 'Local']

function validateName(name: string, field: string, others: Set<string>): FieldError[] {
  return [
    ...checkWith(dnsLabel, field, name),
    ...(others.has(name) ? [duplicate(field, name)] : []),
  ]
}

function validatePort(
  port: ServicePort,
  field: string,
  {nameRequired, names}: {nameRequired: boolean; names: Set<string>},
): FieldError[] {
  const name = port.name ?? ''
  return [
    ...(name === '' && nameRequired ? [required(`${field}.name`)] : []),
    ...(name === '' ? [] : validateName(name, `${field}.name`, names)),
    ...portNumber(`${field}.port`, port.port ?? 0),
    ...oneOf(`${field}.protocol`, port.protocol, PROTOCOLS),
    ...(port.targetPort === undefined ? [] : portReference(`${field}.targetPort`, port.targetPort)),
  ]
}

function validatePorts(spec: ServiceSpec): FieldError[] {
  const ports = spec.ports ?? []
  const errors: FieldError[] = []
  if (ports.length === 0 && hasClusterIP(spec) && !isHeadless(spec)) {
    errors.push(required('spec.ports'))
  }
  const names = new Set<string>()
  const numbers = new Set<string>()
  ports.forEach((port, index) => {
    const field = `spec.ports[${index}]`
    errors.push(...validatePort(port, field, {nameRequired: ports.length > 1, names}))
    if (port.name) names.add(port.name)
    const number = `${port.protocol ?? ''} ${port.port ?? 0}`
    if (numbers.has(number)) {
      errors.push(duplicate(field, {Protocol: port.protocol, Port: port.port}))
    }
    numbers.add(number)
  })
  return errors
}

function validateType(spec: ServiceSpec): FieldError[] {
  const {type = '', clusterIP = ''} = spec
  if (type === '') return [required('spec.type')]
  if (!TYPES.includes(type)) return [notSupported('spec.type', type, TYPES)]
  if (type === 'ExternalName') {
    const name = (spec.externalName ?? '').replace(/\.$/, '')
    const taken = clusterIP === '' ? [] : ['spec.clusterIPs']
    return [
      ...taken.map((field) =>
        forbiddenField(field, "may not be set when `type` is 'ExternalName'"),
      ),
      ...requiredWith(dnsSubdomain, 'spec.externalName', name),
    ]
  }
  return isHeadless(spec) && type !== 'ClusterIP'
    ? [invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)]
    : []
}

function validateClusterIPs(spec: ServiceSpec): FieldError[] {
  const {clusterIP = '', clusterIPs = []} = spec
  if (clusterIP !== (clusterIPs[0] ?? '')) {
    const why = 'first value must match `clusterIP`'
    return [invalidValue('spec.clusterIPs[0]', clusterIPs[0] ?? '', why)]
  }
  return clusterIPs
    .filter((address) => address !== 'None' && isIP(address) === 0)
    .flatMap((address, index) => ipAddress(`spec.clusterIPs[${index}]`, address))
}

function validateNodePorts({type, ports = []}: ServiceSpec): FieldError[] {
  if (type !== 'ClusterIP') return []
  return ports.flatMap(({nodePort}, index) => {
    const why = "may not be used when `type` is 'ClusterIP'"
    return nodePort ? [forbiddenField(`spec.ports[${index}].nodePort`, why)] : []
  })
}

function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const {externalTrafficPolicy: policy} = spec
  const field = 'spec.externalTrafficPolicy'
  if (isExternal(spec)) return oneOf(field, policy, POLICIES)
  const why = 'may only be set for externally-accessible services'
  return policy ? [invalidValue(field, policy, why)] : []
}

export function validateService({spec = {}}: Service): FieldError[] {
  return [
    ...validatePorts(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...oneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']),
    ...validateType(spec),
    ...(hasClusterIP(spec) ? validateClusterIPs(spec) : []),
    ...(spec.externalIPs ?? []).flatMap((address, index) =>
      ipAddress(`spec.externalIPs[${index}]`, address),
    ),
    ...validateNodePorts(spec),
    ...validateExternalTraffic(spec),
    ...oneOf('spec.internalTrafficPolicy', spec.internalTrafficPolicy, POLICIES),
  ]
}

/** A service's address cannot change while it has one. */
export function validateServiceUpdate(
  {spec = {}}: Service,
  {spec: old = {}}: Service,
): FieldError[] {
  if (!hasClusterIP(spec) || !hasClusterIP(old) || !old.clusterIPs?.length) return []
  return semanticallyEqual(spec.clusterIPs?.[0], old.clusterIPs[0])
    ? []
    : [invalidValue('spec.clusterIPs[0]', spec.clusterIPs ?? [], 'may not change once set')]
}
