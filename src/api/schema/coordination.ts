/** Types of leases; parse.ts tells how a table is read. */
export const COORDINATION = `
Lease object | Lease.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:LeaseSpec! | Spec.

LeaseSpec | Lease spec.
  1* holderIdentity:string | Holder identity.
  2* leaseDurationSeconds:int32 | Lease duration seconds.
  3* acquireTime:MicroTime | Acquire time.
  4* renewTime:MicroTime | Renew time.
  5* leaseTransitions:int32 | Lease transitions.
  6* strategy:string(CoordinatedLeaseStrategy) | Strategy.
  7* preferredHolder:string | Preferred holder.
`
