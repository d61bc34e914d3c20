import type {ApiObject} from './meta.ts'

interface ServicePort {
  name?: string
  protocol?: string
  port?: number
  targetPort?: number | string
  nodePort?: number
}

export interface ServiceSpec {
  type?: string
  ports?: ServicePort[]
  selector?: Record<string, string>
  clusterIP?: string
  clusterIPs?: string[]
  externalIPs?: string[]
  externalName?: string
  externalTrafficPolicy?: string
  internalTrafficPolicy?: string
  sessionAffinity?: string
  sessionAffinityConfig?: {clientIP?: {timeoutSeconds?: number}}
  ipFamilies?: string[]
  ipFamilyPolicy?: string
  allocateLoadBalancerNodePorts?: boolean
  loadBalancerClass?: string
}

export interface Service extends ApiObject {
  spec?: ServiceSpec
  status?: {loadBalancer?: {ingress?: {ip?: string; hostname?: string}[]}}
}

/** Reached through an address of the cluster. */
export const hasClusterIP = (spec: ServiceSpec) => spec.type !== 'ExternalName'

export const isHeadless = (spec: ServiceSpec) => spec.clusterIP === 'None'

export const mayHaveNodePorts = (spec: ServiceSpec) =>
  spec.type === 'NodePort' || spec.type === 'LoadBalancer'

/** Reached from outside the cluster. */
export const isExternal = (spec: ServiceSpec) =>
  mayHaveNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)

/** Reached through a port of every node. */
export const hasNodePorts = (spec: ServiceSpec) =>
  spec.type === 'NodePort' ||
  (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
