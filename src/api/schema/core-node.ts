/** Types of nodes; parse.ts describes the format. */
export const NODE = `
Node object | A machine that pods run on.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:NodeSpec! | What is wanted.
  3 status:NodeStatus! | What is observed.

NodeSpec | What a node should be.
  1 podCIDR:string | The addresses for pods of this node.
  7 podCIDRs:[]string merge | The addresses for pods of this node, one range for each IP family.
  3 providerID:string | The node's id at its provider.
  4 unschedulable:bool | Whether no new pods may come.
  5 taints:[]Taint | Keep away pods that do not tolerate them.
  6* configSource:NodeConfigSource | No longer used.
  2 externalID:string | No longer used.

NodeConfigSource | Where a kubelet took its configuration from; no longer used.
  2* configMap:ConfigMapNodeConfigSource | The ConfigMap.

ConfigMapNodeConfigSource | A ConfigMap that held a kubelet's configuration; no longer used.
  1 namespace:string! required | Its namespace.
  2 name:string! required | Its name.
  3 uid:string(types.UID) | Its unique id.
  4 resourceVersion:string | The version of the object that was seen.
  5 kubeletConfigKey:string! required | The entry that held the configuration.

NodeStatus | What a node's kubelet last said of it.
  1 capacity:map<Quantity> | All that the node has.
  2 allocatable:map<Quantity> | What is there for pods.
  3 phase:string(NodePhase) | No longer used.
  4 conditions:[]NodeCondition merge(type) | Observations, one of each type.
  5 addresses:[]NodeAddress merge(type) | Names and addresses of the node.
  6 daemonEndpoints:NodeDaemonEndpoints! | Ports of the node's programs.
  7 nodeInfo:NodeSystemInfo! | What the node is made of.
  8 images:[]ContainerImage | Images that the node has already.
  9 volumesInUse:[]string(UniqueVolumeName) | Volumes that are mounted.
  10 volumesAttached:[]AttachedVolume | Volumes that are attached.
  11* config:NodeConfigStatus | No longer used.
  12 runtimeHandlers:[]NodeRuntimeHandler | Ways in which the node can run containers.
  13* features:NodeFeatures | What the node's container runtime can do.
  14 declaredFeatures:[]string | What the node's kubelet says that it can do.

NodeCondition | An observation about a node.
  1 type:string(NodeConditionType)! required | What is observed, such as Ready.
  2 status:string(ConditionStatus)! required | True, False or Unknown.
  3 lastHeartbeatTime:Time! | When it was last heard of.
  4 lastTransitionTime:Time! | When the status last changed.
  5 reason:string | One word for why.
  6 message:string | A sentence that says more.

NodeAddress | A name or address by which a node can be reached.
  1 type:string(NodeAddressType)! required | What kind of address it is, such as InternalIP.
  2 address:string! required | The name or address.

NodeDaemonEndpoints | Ports of the programs that run on every node.
  1 kubeletEndpoint:DaemonEndpoint! | The kubelet's port.

DaemonEndpoint | A port that a program listens on.
  1 Port:int32! required | The port.

NodeSystemInfo | Names and versions of what a node is made of.
  1 machineID:string! required | The machine's id, as the operating system knows it.
  2 systemUUID:string! required | The machine's id, as its firmware knows it.
  3 bootID:string! required | An id that changes with every boot.
  4 kernelVersion:string! required | The kernel's version.
  5 osImage:string! required | The operating system and its version.
  6 containerRuntimeVersion:string! required | The container runtime and its version.
  7 kubeletVersion:string! required | The kubelet's version.
  8 kubeProxyVersion:string! required | No longer used.
  9 operatingSystem:string! required | Such as linux.
  10 architecture:string! required | Such as amd64.
  11* swap:NodeSwapStatus | The node's swap space.

NodeSwapStatus | How much swap space a node has.
  1* capacity:int64 | How many bytes there are.

ContainerImage | An image that a node has already.
  1 names:[]string! | The names that the image goes by.
  2 sizeBytes:int64 | How many bytes it has.

AttachedVolume | A volume that is attached to a node.
  1 name:string(UniqueVolumeName)! required | Its name.
  2 devicePath:string! required | Where the node has it as a device.

NodeConfigStatus | Which configuration a kubelet used; no longer used.
  1* assigned:NodeConfigSource | What the node was told to use.
  2* active:NodeConfigSource | What the node uses.
  3* lastKnownGood:NodeConfigSource | What the node falls back to.
  4 error:string | What went wrong.

NodeRuntimeHandler | A way in which a node can run containers.
  1 name:string! | Its name; empty for the usual one.
  2* features:NodeRuntimeHandlerFeatures | What it can do.

NodeRuntimeHandlerFeatures | What such a way of running containers can do.
  1* recursiveReadOnlyMounts:bool | Whether mounts below a read-only one are read-only too.
  2* userNamespaces:bool | Whether pods can have users of their own.

NodeFeatures | What a node's container runtime can do.
  1* supplementalGroupsPolicy:bool | Whether the policy on further groups is honoured.
`
