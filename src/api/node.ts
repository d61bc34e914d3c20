import type {ApiObject, ResourceList} from './meta.ts'

/** The annotation in which a node reports, on its own Node, what it trusts and what it holds. */
export const TRUST_REPORT = 'trustadm.io/node-trust'

/** A machine of the cluster, as its kubelet registers it. */
export interface Node extends ApiObject {
  spec?: NodeSpec
  status?: NodeStatus
}

interface NodeSpec {
  podCIDR?: string
  podCIDRs?: string[]
  providerID?: string
  unschedulable?: boolean
  taints?: Taint[]
  configSource?: object
}

export interface Taint {
  key: string
  value?: string
  effect: string
  timeAdded?: string
}

interface NodeStatus {
  capacity?: ResourceList
  allocatable?: ResourceList
  conditions?: NodeCondition[]
  addresses?: NodeAddress[]
  daemonEndpoints?: {kubeletEndpoint?: {Port: number}}
  nodeInfo?: NodeSystemInfo
}

export interface NodeCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastHeartbeatTime?: string
  lastTransitionTime?: string
}

export interface NodeAddress {
  type: string
  address: string
}

export interface NodeSystemInfo {
  machineID: string
  systemUUID: string
  bootID: string
  kernelVersion: string
  osImage: string
  containerRuntimeVersion: string
  kubeletVersion: string
  kubeProxyVersion?: string
  operatingSystem: string
  architecture: string
}
