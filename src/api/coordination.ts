import type {ApiObject} from './meta.ts'

/** A lease: who leads, or that a node is alive (`coordination.k8s.io/v1`). */
export interface Lease extends ApiObject {
  spec?: LeaseSpec
}

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  /** With microseconds: `2026-01-01T00:00:00.000000Z`. */
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
  strategy?: string
  preferredHolder?: string
}
