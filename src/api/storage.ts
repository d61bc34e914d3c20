import type {ApiObject} from './meta.ts'

/** Drivers of volumes, and the nodes that have them (`storage.k8s.io/v1`). */
export interface CSIDriver extends ApiObject {
  spec?: CSIDriverSpec
}

export interface CSIDriverSpec {
  attachRequired?: boolean
  podInfoOnMount?: boolean
  storageCapacity?: boolean
  requiresRepublish?: boolean
  seLinuxMount?: boolean
  fsGroupPolicy?: string
  volumeLifecycleModes?: string[]
  tokenRequests?: {audience?: string; expirationSeconds?: number}[]
}

export interface CSINode extends ApiObject {
  spec?: {drivers?: {name?: string}[] | null}
}
