import {semanticallyEqual} from '../validation/values.ts'
import type {Service, ServiceSpec} from '../../api/service.ts'
import {hasClusterIP, hasNodePorts, isExternal, mayHaveNodePorts} from '../../api/service.ts'

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
