/** Types of nodes; parse.ts tells how a table is read. */
export const NODE = `
Node object | Node.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:NodeSpec! | Spec.
  3 status:NodeStatus! | Status.

NodeSpec | Node spec.
  1 podCIDR:string | Pod cidr.
  7 podCIDRs:[]string merge | Pod cidrs.
  3 providerID:string | Provider id.
  4 unschedulable:bool | Unschedulable.
  5 taints:[]Taint | Taints.
  6* configSource:NodeConfigSource | Config source.
  2 externalID:string | External id.

NodeConfigSource | Node config source.
  2* configMap:ConfigMapNodeConfigSource | Config map.

ConfigMapNodeConfigSource | Config map node config source.
  1 namespace:string! required | Namespace.
  2 name:string! required | Name.
  3 uid:string(types.UID) | Uid.
  4 resourceVersion:string | Resource version.
  5 kubeletConfigKey:string! required | Kubelet config key.

NodeStatus | Node status.
  1 capacity:map<Quantity> | Capacity.
  2 allocatable:map<Quantity> | Allocatable.
  3 phase:string(NodePhase) | Phase.
  4 conditions:[]NodeCondition merge(type) | Conditions.
  5 addresses:[]NodeAddress merge(type) | Addresses.
  6 daemonEndpoints:NodeDaemonEndpoints! | Daemon endpoints.
  7 nodeInfo:NodeSystemInfo! | Node info.
  8 images:[]ContainerImage | Images.
  9 volumesInUse:[]string(UniqueVolumeName) | Volumes in use.
  10 volumesAttached:[]AttachedVolume | Volumes attached.
  11* config:NodeConfigStatus | Config.
  12 runtimeHandlers:[]NodeRuntimeHandler | Runtime handlers.
  13* features:NodeFeatures | Features.
  14 declaredFeatures:[]string | Declared features.

NodeCondition | Node condition.
  1 type:string(NodeConditionType)! required | Type.
  2 status:string(ConditionStatus)! required | Status.
  3 lastHeartbeatTime:Time! | Last heartbeat time.
  4 lastTransitionTime:Time! | Last transition time.
  5 reason:string | Reason.
  6 message:string | Message.

NodeAddress | Node address.
  1 type:string(NodeAddressType)! required | Type.
  2 address:string! required | Address.

NodeDaemonEndpoints | Node daemon endpoints.
  1 kubeletEndpoint:DaemonEndpoint! | Kubelet endpoint.

DaemonEndpoint | Daemon endpoint.
  1 Port:int32! required | Port.

NodeSystemInfo | Node system info.
  1 machineID:string! required | Machine id.
  2 systemUUID:string! required | System uuid.
  3 bootID:string! required | Boot id.
  4 kernelVersion:string! required | Kernel version.
  5 osImage:string! required | Os image.
  6 containerRuntimeVersion:string! required | Container runtime version.
  7 kubeletVersion:string! required | Kubelet version.
  8 kubeProxyVersion:string! required | Kube proxy version.
  9 operatingSystem:string! required | Operating system.
  10 architecture:string! required | Architecture.
  11* swap:NodeSwapStatus | Swap.

NodeSwapStatus | Node swap status.
  1* capacity:int64 | Capacity.

ContainerImage | Container image.
  1 names:[]string! | Names.
  2 sizeBytes:int64 | Size bytes.

AttachedVolume | Attached volume.
  1 name:string(UniqueVolumeName)! required | Name.
  2 devicePath:string! required | Device path.

NodeConfigStatus | Node config status.
  1* assigned:NodeConfigSource | Assigned.
  2* active:NodeConfigSource | Active.
  3* lastKnownGood:NodeConfigSource | Last known good.
  4 error:string | Error.

NodeRuntimeHandler | Node runtime handler.
  1 name:string! | Name.
  2* features:NodeRuntimeHandlerFeatures | Features.

NodeRuntimeHandlerFeatures | Node runtime handler features.
  1* recursiveReadOnlyMounts:bool | Recursive read only mounts.
  2* userNamespaces:bool | User namespaces.

NodeFeatures | Node features.
  1* supplementalGroupsPolicy:bool | Supplemental groups policy.
`
