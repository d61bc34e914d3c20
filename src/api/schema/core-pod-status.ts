/** Types of what is known of running pods; parse.ts tells how a table is read. */
export const POD_STATUS = `
PodStatus | Pod status.
  17 observedGeneration:int64 | Observed generation.
  1 phase:string(PodPhase) | Phase.
  2 conditions:[]PodCondition merge(type) | Conditions.
  3 message:string | Message.
  4 reason:string | Reason.
  11 nominatedNodeName:string | Nominated node name.
  5 hostIP:string | Host ip.
  16 hostIPs:[]HostIP merge(ip) atomic | Host ips.
  6 podIP:string | Pod ip.
  12 podIPs:[]PodIP merge(ip) | Pod ips.
  7* startTime:Time | Start time.
  10 initContainerStatuses:[]ContainerStatus | Init container statuses.
  8 containerStatuses:[]ContainerStatus | Container statuses.
  9 qosClass:string(PodQOSClass) | Qos class.
  13 ephemeralContainerStatuses:[]ContainerStatus | Ephemeral container statuses.
  14 resize:string(PodResizeStatus) | Resize.
  15 resourceClaimStatuses:[]PodResourceClaimStatus merge(name) retainKeys | Resource claim statuses.
  18* extendedResourceClaimStatus:PodExtendedResourceClaimStatus | Extended resource claim status.
  19 allocatedResources:map<Quantity> | Allocated resources.
  20* resources:ResourceRequirements | Resources.
  21 nodeAllocatableResourceClaimStatuses:[]NodeAllocatableResourceClaimStatus | Node allocatable resource claim statuses.

PodCondition | Pod condition.
  1 type:string(PodConditionType)! required | Type.
  7 observedGeneration:int64 | Observed generation.
  2 status:string(ConditionStatus)! required | Status.
  3 lastProbeTime:Time! | Last probe time.
  4 lastTransitionTime:Time! | Last transition time.
  5 reason:string | Reason.
  6 message:string | Message.

PodIP | Pod ip.
  1 ip:string! required | Ip.

HostIP | Host ip.
  1 ip:string! required | Ip.

PodResourceClaimStatus | Pod resource claim status.
  1 name:string! required | Name.
  2* resourceClaimName:string | Resource claim name.

PodExtendedResourceClaimStatus | Pod extended resource claim status.
  1 requestMappings:[]ContainerExtendedResourceRequest! required | Request mappings.
  2 resourceClaimName:string! required | Resource claim name.

ContainerExtendedResourceRequest | Container extended resource request.
  1 containerName:string! required | Container name.
  2 resourceName:string! required | Resource name.
  3 requestName:string! required | Request name.

NodeAllocatableResourceClaimStatus | Node allocatable resource claim status.
  1 resourceClaimName:string! required | Resource claim name.
  2 containers:[]string | Containers.
  3 resources:map<Quantity>! required | Resources.

ContainerStatus | Container status.
  1 name:string! required | Name.
  2 state:ContainerState! | State.
  3 lastState:ContainerState! | Last state.
  4 ready:bool! required | Ready.
  5 restartCount:int32! required | Restart count.
  6 image:string! required | Image.
  7 imageID:string! required | Image id.
  8 containerID:string | Container id.
  9* started:bool | Started.
  10 allocatedResources:map<Quantity> | Allocated resources.
  11* resources:ResourceRequirements | Resources.
  12 volumeMounts:[]VolumeMountStatus merge(mountPath) | Volume mounts.
  13* user:ContainerUser | User.
  14 allocatedResourcesStatus:[]ResourceStatus merge(name) | Allocated resources status.
  15* stopSignal:string(Signal) | Stop signal.

ContainerState | Container state.
  1* waiting:ContainerStateWaiting | Waiting.
  2* running:ContainerStateRunning | Running.
  3* terminated:ContainerStateTerminated | Terminated.

ContainerStateWaiting | Container state waiting.
  1 reason:string | Reason.
  2 message:string | Message.

ContainerStateRunning | Container state running.
  1 startedAt:Time! | Started at.

ContainerStateTerminated | Container state terminated.
  1 exitCode:int32! required | Exit code.
  2 signal:int32 | Signal.
  3 reason:string | Reason.
  4 message:string | Message.
  5 startedAt:Time! | Started at.
  6 finishedAt:Time! | Finished at.
  7 containerID:string | Container id.

ContainerUser | Container user.
  1* linux:LinuxContainerUser | Linux.

LinuxContainerUser | Linux container user.
  1 uid:int64! required | Uid.
  2 gid:int64! required | Gid.
  3 supplementalGroups:[]int64 | Supplemental groups.

VolumeMountStatus | Volume mount status.
  1 name:string! required | Name.
  2 mountPath:string! required | Mount path.
  3 readOnly:bool | Read only.
  4* recursiveReadOnly:string(RecursiveReadOnlyMode) | Recursive read only.
  5* volumeStatus:VolumeStatus | Volume status.

VolumeStatus | Volume status.
  1* image:ImageVolumeStatus | Image.

ImageVolumeStatus | Image volume status.
  1 imageRef:string | Image ref.

ResourceStatus | Resource status.
  1 name:string(ResourceName)! required | Name.
  2 resources:[]ResourceHealth keys(resourceID) | Resources.

ResourceHealth | Resource health.
  1 resourceID:string(ResourceID)! required | Resource id.
  2 health:string(ResourceHealthStatus) | Health.
  6* message:string | Message.
`
