/** Types of CSI drivers and what nodes know of them; parse.ts tells how a table is read. */
export const STORAGE = `
CSINode object | Csinode.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:CSINodeSpec! required | Spec.

CSINodeSpec | Csinode spec.
  1 drivers:[]CSINodeDriver! required merge(name) | Drivers.

CSINodeDriver | Csinode driver.
  1 name:string! required | Name.
  2 nodeID:string! required | Node id.
  3 topologyKeys:[]string! | Topology keys.
  4* allocatable:VolumeNodeResources | Allocatable.

VolumeNodeResources | Volume node resources.
  1* count:int32 | Count.

CSIDriver object | Csidriver.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:CSIDriverSpec! required | Spec.

CSIDriverSpec | Csidriver spec.
  1* attachRequired:bool | Attach required.
  2* podInfoOnMount:bool | Pod info on mount.
  3 volumeLifecycleModes:[]string(VolumeLifecycleMode) set | Volume lifecycle modes.
  4* storageCapacity:bool | Storage capacity.
  5* fsGroupPolicy:string(FSGroupPolicy) | Fs group policy.
  6 tokenRequests:[]TokenRequest | Token requests.
  7* requiresRepublish:bool | Requires republish.
  8* seLinuxMount:bool | Se linux mount.
  9* nodeAllocatableUpdatePeriodSeconds:int64 | Node allocatable update period seconds.
  10* serviceAccountTokenInSecrets:bool | Service account token in secrets.
  11* preventPodSchedulingIfMissing:bool | Prevent pod scheduling if missing.

TokenRequest | Token request.
  1 audience:string! required | Audience.
  2* expirationSeconds:int64 | Expiration seconds.
`
