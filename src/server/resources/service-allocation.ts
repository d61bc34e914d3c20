import {randomInt} from 'node:crypto'
import {isIP} from 'node:net'

import type {AddressRange} from '../../pki/address-range.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue} from '../kernel/field-error.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {internalError} from '../kernel/status.ts'
import {semanticallyEqual} from '../validation/values.ts'
import type {Service, ServiceSpec} from '../../api/service.ts'
import {
  hasClusterIP,
  hasNodePorts,
  isExternal,
  isHeadless,
  mayHaveNodePorts,
} from '../../api/service.ts'

const FIRST_NODE_PORT = 30_000
const LAST_NODE_PORT = 32_767
const TRIES = 1000

function others({objects}: OperationContext, service: Service): ServiceSpec[] {
  const {namespace, name} = service.metadata
  return (objects.list('services', '') as Service[])
    .filter(({metadata}) => metadata.namespace !== namespace || metadata.name !== name)
    .flatMap(({spec}) => (spec ? [spec] : []))
}

/** Starts with a random one, so that two concurrent creations rarely choose the same. */
function free<T>(candidate: () => T, taken: Set<T>, what: string): T {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const one = candidate()
    if (!taken.has(one)) return one
  }
  throw internalError(`failed to allocate a ${what}: range is full`)
}

function allocateFamilies(spec: ServiceSpec, family: AddressRange['family']): void {
  const anyFamily = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0
  spec.ipFamilyPolicy ??= anyFamily ? 'RequireDualStack' : 'SingleStack'
  if (spec.ipFamilies?.length) return
  spec.ipFamilies = anyFamily && spec.ipFamilyPolicy !== 'SingleStack' ? ['IPv4', 'IPv6'] : [family]
}

const addressesOf = (specs: ServiceSpec[]) =>
  new Set(specs.flatMap((spec) => spec.clusterIPs ?? []))
const nodePortsOf = (specs: ServiceSpec[]) =>
  new Set(specs.flatMap(({ports = []}) => ports.flatMap(({nodePort}) => nodePort ?? [])))

/** Allocates what a service did not specify: address, families, node ports. */
export function allocate(service: Service, context: OperationContext, range: AddressRange): void {
  const {spec} = service
  if (spec === undefined || !hasClusterIP(spec)) return
  const existing = others(context, service)
  if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0]
  spec.clusterIP ||= free(() => range.random(), addressesOf(existing), 'cluster IP')
  if (!spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
  allocateFamilies(spec, range.family)
  if (hasNodePorts(spec)) allocateNodePorts(spec, nodePortsOf(existing))
}

/** Replaces the address and the node ports that other services have by free ones. */
export function reallocate(service: Service, context: OperationContext, range: AddressRange): void {
  const {spec} = service
  if (spec === undefined) return
  const existing = others(context, service)
  const taken = nodePortsOf(existing)
  if (addressesOf(existing).has(spec.clusterIP ?? '') && !isHeadless(spec)) {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  for (const port of spec.ports ?? []) if (taken.has(port.nodePort ?? 0)) delete port.nodePort
  allocate(service, context, range)
}

function allocateNodePorts({ports = []}: ServiceSpec, taken: Set<number>): void {
  for (const {nodePort} of ports) if (nodePort) taken.add(nodePort)
  for (const port of ports) {
    port.nodePort ||= free(() => randomInt(FIRST_NODE_PORT, LAST_NODE_PORT + 1), taken, 'node port')
    taken.add(port.nodePort)
  }
}

function validateAddress(
  spec: ServiceSpec,
  existing: ServiceSpec[],
  range: AddressRange,
): FieldError[] {
  const {clusterIP = ''} = spec
  if (!hasClusterIP(spec) || isHeadless(spec) || clusterIP === '' || isIP(clusterIP) === 0)
    return []
  const refuse = (why: string) => [
    invalidValue(
      'spec.clusterIPs',
      spec.clusterIPs ?? [],
      `failed to allocate IP ${clusterIP}: ${why}`,
    ),
  ]
  if (!range.contains(clusterIP)) {
    return refuse(
      `the provided IP (${clusterIP}) is not in the valid range. The range of valid IPs is ${range.text}`,
    )
  }
  return addressesOf(existing).has(clusterIP) ? refuse('provided IP is already allocated') : []
}

/** The addresses and ports that a service specifies must be free. */
export function validateAllocation(
  service: Service,
  context: OperationContext,
  range: AddressRange,
): FieldError[] {
  const {spec} = service
  if (spec === undefined) return []
  const existing = others(context, service)
  const taken = nodePortsOf(existing)
  const wanted = mayHaveNodePorts(spec) ? (spec.ports ?? []) : []
  const portErrors = wanted.flatMap(({nodePort}, index) => {
    if (!nodePort) return []
    const field = `spec.ports[${index}].nodePort`
    if (nodePort < FIRST_NODE_PORT || nodePort > LAST_NODE_PORT) {
      const why = `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`
      return [invalidValue(field, nodePort, why)]
    }
    return taken.has(nodePort)
      ? [invalidValue(field, nodePort, 'provided port is already allocated')]
      : []
  })
  return [...validateAddress(spec, existing, range), ...portErrors]
}

const sameAddresses = (spec: ServiceSpec, old: ServiceSpec) =>
  semanticallyEqual(spec.clusterIPs, old.clusterIPs)

/** clusterIP and clusterIPs mirror each other: a client that changes only one means both. As Kubernetes' NormalizeClusterIPs. */
function linkAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  const before = old.clusterIP ?? ''
  const now = spec.clusterIP ?? ''
  if (now === before) {
    if (!spec.clusterIPs?.length && old.clusterIPs) spec.clusterIPs = [...old.clusterIPs]
  } else if (spec.clusterIPs === undefined || sameAddresses(spec, old)) {
    if (now === '') delete spec.clusterIPs
    else spec.clusterIPs = [now]
  }
}

/** An update by a client that does not send the allocated values keeps them. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterIP(spec) && hasClusterIP(old)) {
    if (!spec.clusterIP && !spec.clusterIPs?.length) {
      if (old.clusterIP) spec.clusterIP = old.clusterIP
      if (old.clusterIPs) spec.clusterIPs = [...old.clusterIPs]
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

function dropAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if (!hasClusterIP(old) || hasClusterIP(spec)) return
  if (spec.clusterIP === old.clusterIP && sameAddresses(spec, old)) {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  if (semanticallyEqual(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies
  if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy
}

function dropNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  if (!mayHaveNodePorts(old) || mayHaveNodePorts(spec)) return
  const before = new Set(old.ports?.map(({nodePort}) => nodePort))
  const ports = spec.ports ?? []
  if (ports.some(({nodePort}) => nodePort && !before.has(nodePort))) return
  for (const port of ports) delete port.nodePort
}

/**
 * Fields that only the old type has are removed, unless the caller changed them too: then validation refuses them. As
 * Kubernetes' dropTypeDependentFields.
 */
function dropFieldsOfOldType(spec: ServiceSpec, old: ServiceSpec): void {
  dropAddresses(spec, old)
  dropNodePorts(spec, old)
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    const sameAllocation = spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts
    if (sameAllocation) delete spec.allocateLoadBalancerNodePorts
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass
  }
  const sameTraffic = spec.externalTrafficPolicy === old.externalTrafficPolicy
  if (isExternal(old) && !isExternal(spec) && sameTraffic) delete spec.externalTrafficPolicy
}

/** Services have fields that depend on each other: an update of one also updates the others. */
export function linkFields({spec, status}: Service, {spec: old}: Service): void {
  if (spec === undefined || old === undefined) return
  linkAddresses(spec, old)
  keepAllocated(spec, old)
  dropFieldsOfOldType(spec, old)
  if (spec.type !== 'LoadBalancer' && status !== undefined) status.loadBalancer = {}
}
