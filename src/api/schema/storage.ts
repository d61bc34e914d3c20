/** Types of CSI drivers and what nodes know of them; parse.ts describes the format. */
export const STORAGE = `
CSINode object | What the CSI drivers on a node say of themselves.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CSINodeSpec! required | What is wanted.

CSINodeSpec | The drivers of a node.
  1 drivers:[]CSINodeDriver! required merge(name) | The drivers on the node.

CSINodeDriver | A driver on a node.
  1 name:string! required | Its name.
  2 nodeID:string! required | The node's id, as the driver knows it.
  3 topologyKeys:[]string! | Labels that tell where volumes can be reached from.
  4* allocatable:VolumeNodeResources | How many volumes fit.

VolumeNodeResources | How many volumes fit on a node.
  1* count:int32 | How many.

CSIDriver object | How Kubernetes should deal with a CSI driver.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CSIDriverSpec! required | What is wanted.

CSIDriverSpec | What a driver needs and can do.
  1* attachRequired:bool | Whether volumes must be attached before they are mounted.
  2* podInfoOnMount:bool | Whether the driver wants to know the pod.
  3 volumeLifecycleModes:[]string(VolumeLifecycleMode) set | Persistent, Ephemeral or both.
  4* storageCapacity:bool | Whether the driver tells how much room there is.
  5* fsGroupPolicy:string(FSGroupPolicy) | Whether the owner of files can be changed.
  6 tokenRequests:[]TokenRequest | Tokens of the pods' service accounts that the driver wants.
  7* requiresRepublish:bool | Whether the driver is called again and again.
  8* seLinuxMount:bool | Whether volumes can be mounted with an SELinux label.
  9* nodeAllocatableUpdatePeriodSeconds:int64 | How often to ask how many volumes fit.
  10* serviceAccountTokenInSecrets:bool | Whether tokens are passed as secrets.
  11* preventPodSchedulingIfMissing:bool | Whether pods keep away from nodes without the driver.

TokenRequest | A token that a driver wants for the pods it serves.
  1 audience:string! required | Who the token is for.
  2* expirationSeconds:int64 | How long it should be valid.
`
