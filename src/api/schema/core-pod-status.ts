/** Types of the status of running pods; parse.ts describes the format. */
export const POD_STATUS = `
PodStatus | What is known of a pod now.
  17 observedGeneration:int64 | The generation that this was observed at.
  1 phase:string(PodPhase) | Pending, Running, Succeeded, Failed or Unknown.
  2 conditions:[]PodCondition merge(type) | Observations, one of each type.
  3 message:string | A sentence that says more.
  4 reason:string | One word for why.
  11 nominatedNodeName:string | The node where room is being made.
  5 hostIP:string | The node's address.
  16 hostIPs:[]HostIP merge(ip) atomic | The node's addresses.
  6 podIP:string | The pod's address.
  12 podIPs:[]PodIP merge(ip) | The pod's addresses.
  7* startTime:Time | When the kubelet took on the pod.
  10 initContainerStatuses:[]ContainerStatus | How the containers that run first are doing.
  8 containerStatuses:[]ContainerStatus | How the containers are doing.
  9 qosClass:string(PodQOSClass) | Guaranteed, Burstable or BestEffort.
  13 ephemeralContainerStatuses:[]ContainerStatus | How the added containers are doing.
  14 resize:string(PodResizeStatus) | No longer used.
  15 resourceClaimStatuses:[]PodResourceClaimStatus merge(name) retainKeys | The claims that were made for the pod.
  18* extendedResourceClaimStatus:PodExtendedResourceClaimStatus | The claim behind extended resources.
  19 allocatedResources:map<Quantity> | What has been set aside.
  20* resources:ResourceRequirements | What all containers together have now.
  21 nodeAllocatableResourceClaimStatuses:[]NodeAllocatableResourceClaimStatus | What claims take from the node's own resources.

PodCondition | An observation about a pod.
  1 type:string(PodConditionType)! required | What is observed, such as Ready.
  7 observedGeneration:int64 | The generation that this was observed at.
  2 status:string(ConditionStatus)! required | What is observed.
  3 lastProbeTime:Time! | When it was last checked.
  4 lastTransitionTime:Time! | When the status last changed.
  5 reason:string | One word for why.
  6 message:string | A sentence that says more.

PodIP | An address of a pod.
  1 ip:string! required | The IP address.

HostIP | An address of the node that a pod runs on.
  1 ip:string! required | The IP address.

PodResourceClaimStatus | Which ResourceClaim was made for an entry of the pod's claims.
  1 name:string! required | Its name.
  2* resourceClaimName:string | The name of the ResourceClaim.

PodExtendedResourceClaimStatus | The claim that stands behind a pod's extended resources.
  1 requestMappings:[]ContainerExtendedResourceRequest! required | Which resource of which container stands behind which request.
  2 resourceClaimName:string! required | The name of the ResourceClaim.

ContainerExtendedResourceRequest | Ties an extended resource of a container to a request of a claim.
  1 containerName:string! required | The container's name.
  2 resourceName:string! required | The resource's name.
  3 requestName:string! required | The request of the claim.

NodeAllocatableResourceClaimStatus | What a claim takes from the node's own resources.
  1 resourceClaimName:string! required | The name of the ResourceClaim.
  2 containers:[]string | The containers that use the claim.
  3 resources:map<Quantity>! required | What is taken.

ContainerStatus | What is known of a container now.
  1 name:string! required | Its name.
  2 state:ContainerState! | What the container is doing.
  3 lastState:ContainerState! | What the container's last run came to.
  4 ready:bool! required | Whether the container is ready.
  5 restartCount:int32! required | How often the container was started again.
  6 image:string! required | The image that runs.
  7 imageID:string! required | The id of the image that runs.
  8 containerID:string | The container's id at its runtime.
  9* started:bool | Whether the container has come up.
  10 allocatedResources:map<Quantity> | What has been set aside.
  11* resources:ResourceRequirements | What the container has now.
  12 volumeMounts:[]VolumeMountStatus merge(mountPath) | Volumes as they are mounted.
  13* user:ContainerUser | The user that the first process runs as.
  14 allocatedResourcesStatus:[]ResourceStatus merge(name) | The health of the container's devices.
  15* stopSignal:string(Signal) | The signal that asks the container to stop.

ContainerState | What a container is doing: exactly one of waiting, running, terminated.
  1* waiting:ContainerStateWaiting | It does not run yet.
  2* running:ContainerStateRunning | It runs.
  3* terminated:ContainerStateTerminated | It has ended.

ContainerStateWaiting | A container that does not run yet.
  1 reason:string | One word for why.
  2 message:string | A sentence that says more.

ContainerStateRunning | A container that runs.
  1 startedAt:Time! | When it started.

ContainerStateTerminated | A container that has ended.
  1 exitCode:int32! required | The exit code.
  2 signal:int32 | The signal that ended it.
  3 reason:string | One word for why.
  4 message:string | A sentence that says more.
  5 startedAt:Time! | When it started.
  6 finishedAt:Time! | When it ended.
  7 containerID:string | The container's id at its runtime.

ContainerUser | The user that a container's first process runs as.
  1* linux:LinuxContainerUser | The user, on Linux.

LinuxContainerUser | A user and its groups on Linux.
  1 uid:int64! required | The user id.
  2 gid:int64! required | The group id.
  3 supplementalGroups:[]int64 | Further group ids of the processes.

VolumeMountStatus | A volume as it is mounted in a container.
  1 name:string! required | Its name.
  2 mountPath:string! required | Where in the container's files it is mounted.
  3 readOnly:bool | Whether nothing can be written.
  4* recursiveReadOnly:string(RecursiveReadOnlyMode) | Whether mounts below are read-only too.
  5* volumeStatus:VolumeStatus | What is known of the volume.

VolumeStatus | What is known of a mounted volume.
  1* image:ImageVolumeStatus | The image that is mounted.

ImageVolumeStatus | What is known of an image that is mounted as a volume.
  1 imageRef:string | The image's digest.

ResourceStatus | The health of devices that were given to a container.
  1 name:string(ResourceName)! required | Its name.
  2 resources:[]ResourceHealth keys(resourceID) | The health of each device.

ResourceHealth | The health of one device.
  1 resourceID:string(ResourceID)! required | The device's id.
  2 health:string(ResourceHealthStatus) | Healthy, Unhealthy or Unknown.
  6* message:string | A sentence that says more.
`
