/** Types of leases; parse.ts describes the format. */
export const COORDINATION = `
Lease object | A claim that somebody holds and renews, such as leadership.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:LeaseSpec! | What is wanted.

LeaseSpec | Who holds a lease, and for how long.
  1* holderIdentity:string | Who holds it.
  2* leaseDurationSeconds:int32 | How long others wait after the last renewal.
  3* acquireTime:MicroTime | When it was taken.
  4* renewTime:MicroTime | When it was last renewed.
  5* leaseTransitions:int32 | How often it changed hands.
  6* strategy:string(CoordinatedLeaseStrategy) | How the holder is chosen, where that is coordinated.
  7* preferredHolder:string | Who should take it over.
`
