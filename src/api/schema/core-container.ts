/** Types of containers; parse.ts describes the format. */
export const CONTAINER = `
Container | A program with its image, settings and limits.
  1 name:string! required | Its name.
  2 image:string | The image to run.
  3 command:[]string | What to run in place of the image's entry point.
  4 args:[]string | Arguments for the command.
  5 workingDir:string | The folder to start in.
  6 ports:[]ContainerPort merge(containerPort) keys(containerPort,protocol) | Ports that the container listens on.
  19 envFrom:[]EnvFromSource | Sources of many variables at once.
  7 env:[]EnvVar merge(name) | Variables for the processes.
  8 resources:ResourceRequirements! | How much is needed and may be used.
  23 resizePolicy:[]ContainerResizePolicy | What a change of resources means for the running container.
  24* restartPolicy:string(ContainerRestartPolicy) | When to start this container again, where it differs from the pod.
  25 restartPolicyRules:[]ContainerRestartRule | What to do depending on how the container ended.
  9 volumeMounts:[]VolumeMount merge(mountPath) | Volumes and where they are mounted.
  21 volumeDevices:[]VolumeDevice merge(devicePath) | Volumes as raw devices.
  10* livenessProbe:Probe | Restarts the container when it fails.
  11* readinessProbe:Probe | Takes the container out of services while it fails.
  22* startupProbe:Probe | Holds back the other checks until it succeeds.
  12* lifecycle:Lifecycle | What to do around start and stop.
  13 terminationMessagePath:string | The file with the last words of the container.
  20 terminationMessagePolicy:string(TerminationMessagePolicy) | Where the last words come from.
  14 imagePullPolicy:string(PullPolicy) | When to pull the image: Always, IfNotPresent or Never.
  15* securityContext:SecurityContext | Security settings of this container.
  16 stdin:bool | Whether standard input stays open.
  17 stdinOnce:bool | Whether standard input closes after the first client.
  18 tty:bool | Whether there is a terminal.

EphemeralContainer | A container that is added to a running pod, to look into it.
  1 (inline):EphemeralContainerCommon | What it shares with other containers.
  2 targetContainerName:string | The container whose processes it sees.

EphemeralContainerCommon | The fields that an ephemeral container shares with other containers.
  1 name:string! required | Its name.
  2 image:string | The image to run.
  3 command:[]string | What to run in place of the image's entry point.
  4 args:[]string | Arguments for the command.
  5 workingDir:string | The folder to start in.
  6 ports:[]ContainerPort merge(containerPort) keys(containerPort,protocol) | Ports that the container listens on.
  19 envFrom:[]EnvFromSource | Sources of many variables at once.
  7 env:[]EnvVar merge(name) | Variables for the processes.
  8 resources:ResourceRequirements! | How much is needed and may be used.
  23 resizePolicy:[]ContainerResizePolicy | What a change of resources means for the running container.
  24* restartPolicy:string(ContainerRestartPolicy) | When to start this container again, where it differs from the pod.
  25 restartPolicyRules:[]ContainerRestartRule | What to do depending on how the container ended.
  9 volumeMounts:[]VolumeMount merge(mountPath) | Volumes and where they are mounted.
  21 volumeDevices:[]VolumeDevice merge(devicePath) | Volumes as raw devices.
  10* livenessProbe:Probe | Restarts the container when it fails.
  11* readinessProbe:Probe | Takes the container out of services while it fails.
  22* startupProbe:Probe | Holds back the other checks until it succeeds.
  12* lifecycle:Lifecycle | What to do around start and stop.
  13 terminationMessagePath:string | The file with the last words of the container.
  20 terminationMessagePolicy:string(TerminationMessagePolicy) | Where the last words come from.
  14 imagePullPolicy:string(PullPolicy) | When to pull the image: Always, IfNotPresent or Never.
  15* securityContext:SecurityContext | Security settings of this container.
  16 stdin:bool | Whether standard input stays open.
  17 stdinOnce:bool | Whether standard input closes after the first client.
  18 tty:bool | Whether there is a terminal.

ContainerPort | A port that a container listens on.
  1 name:string | Its name.
  2 hostPort:int32 | The same port on the node.
  3 containerPort:int32! required | The port in the container.
  4 protocol:string(Protocol) default(TCP) | TCP, UDP or SCTP.
  5 hostIP:string | The node's address to listen on.

EnvFromSource | A source of many variables at once.
  1 prefix:string | What the variables' names begin with.
  2* configMapRef:ConfigMapEnvSource | The ConfigMap.
  3* secretRef:SecretEnvSource | The Secret.

ConfigMapEnvSource | A ConfigMap whose entries become variables.
  1 (inline):LocalObjectReference | The ConfigMap.
  2* optional:bool | Whether it may be missing.

SecretEnvSource | A Secret whose entries become variables.
  1 (inline):LocalObjectReference | The Secret.
  2* optional:bool | Whether it may be missing.

EnvVar | A variable for a container's processes.
  1 name:string! required | Its name.
  2 value:string | The value.
  3* valueFrom:EnvVarSource | Where the value comes from.

EnvVarSource | Where a variable's value comes from.
  1* fieldRef:ObjectFieldSelector | A field of the pod.
  2* resourceFieldRef:ResourceFieldSelector | A resource limit or request of a container.
  3* configMapKeyRef:ConfigMapKeySelector | An entry of a ConfigMap.
  4* secretKeyRef:SecretKeySelector | An entry of a Secret.
  5* fileKeyRef:FileKeySelector | An entry of a file in a volume.

ObjectFieldSelector atomic | A field of the pod itself.
  1 apiVersion:string | Its group and version.
  2 fieldPath:string! required | A field within the object.

ResourceFieldSelector atomic | A resource limit or request of a container.
  1 containerName:string | The container's name.
  2 resource:string! required | The resource, such as limits.cpu.
  3 divisor:Quantity! | The unit to count in.

ConfigMapKeySelector atomic | An entry of a ConfigMap.
  1 (inline):LocalObjectReference | The ConfigMap.
  2 key:string! required | The name of the entry.
  3* optional:bool | Whether it may be missing.

SecretKeySelector atomic | An entry of a Secret.
  1 (inline):LocalObjectReference | The Secret.
  2 key:string! required | The name of the entry.
  3* optional:bool | Whether it may be missing.

FileKeySelector atomic | An entry of a file with variables in a volume.
  1 volumeName:string! required | The volume's name.
  2 path:string! required | The path.
  3 key:string! required | The name of the entry.
  4* optional:bool | Whether it may be missing.

ResourceRequirements | How much of each resource a container needs and may use.
  1 limits:map<Quantity> | The most that may be used.
  2 requests:map<Quantity> | The least that is needed.
  3 claims:[]ResourceClaim keys(name) | Claims of the pod that are used.

ResourceClaim | A claim of the pod that a container uses.
  1 name:string! required | Its name.
  2 request:string | A single request of the claim.

ContainerResizePolicy | What a change of a resource means for a running container.
  1 resourceName:string(ResourceName)! required | The resource's name.
  2 restartPolicy:string(ResourceResizeRestartPolicy)! required | Whether the container must start again.

ContainerRestartRule | What to do when a container ends in a certain way.
  1 action:string(ContainerRestartRuleAction) | What to do.
  2* exitCodes:ContainerRestartRuleOnExitCodes | When the exit code is one of these.

ContainerRestartRuleOnExitCodes | The exit codes that a rule is about.
  1 operator:string(ContainerRestartRuleOnExitCodesOperator) | How the values are compared.
  2 values:[]int32 set | The values to compare with.

VolumeMount | A volume's place in a container's files.
  1 name:string! required | Its name.
  2 readOnly:bool | Whether nothing can be written.
  7* recursiveReadOnly:string(RecursiveReadOnlyMode) | Whether mounts below are read-only too.
  3 mountPath:string! required | Where in the container's files it is mounted.
  4 subPath:string | A folder within the volume.
  5* mountPropagation:string(MountPropagationMode) | Whether mounts travel between node and container.
  6 subPathExpr:string | A folder within the volume, with variables in its name.

VolumeDevice | A volume that a container gets as a raw device.
  1 name:string! required | Its name.
  2 devicePath:string! required | Where the container has it as a device.

Probe | A check that the kubelet repeats on a container.
  1 (inline):ProbeHandler | How the check is made.
  2 initialDelaySeconds:int32 | How long to wait before the first check.
  3 timeoutSeconds:int32 | How long a check may take.
  4 periodSeconds:int32 | How often to check.
  5 successThreshold:int32 | How many checks in a row must succeed.
  6 failureThreshold:int32 | How many checks in a row must fail.
  7* terminationGracePeriodSeconds:int64 | How long the container has to stop when the check fails.

ProbeHandler | How a check is made: exactly one of these.
  1* exec:ExecAction | Runs a command in the container.
  2* httpGet:HTTPGetAction | Asks a web server.
  3* tcpSocket:TCPSocketAction | Opens a connection.
  4* grpc:GRPCAction | Asks a gRPC health service.

Lifecycle | What to do right after a container starts and right before it stops.
  1* postStart:LifecycleHandler | Done right after the start.
  2* preStop:LifecycleHandler | Done right before the stop.
  3* stopSignal:string(Signal) | The signal that asks the container to stop.

LifecycleHandler | One thing to do: exactly one of these.
  1* exec:ExecAction | Runs a command in the container.
  2* httpGet:HTTPGetAction | Asks a web server.
  3* tcpSocket:TCPSocketAction | Opens a connection.
  4* sleep:SleepAction | Waits.

ExecAction | Runs a command inside of the container.
  1 command:[]string | The command and its arguments; no shell is involved.

HTTPGetAction | Asks a web server.
  1 path:string | The path.
  2 port:IntOrString! required | The port.
  3 host:string | The name or address to connect to; the pod's own where empty.
  4 scheme:string(URIScheme) | HTTP or HTTPS.
  5 httpHeaders:[]HTTPHeader | Headers to send.

HTTPHeader | A header of a request.
  1 name:string! required | Its name.
  2 value:string! required | The value.

TCPSocketAction | Opens a connection.
  1 port:IntOrString! required | The port.
  2 host:string | The name or address to connect to; the pod's own where empty.

GRPCAction | Asks a gRPC health service.
  1 port:int32! required | The port.
  2* service:string! | The service to ask for.

SleepAction | Waits.
  1 seconds:int64! required | How long.

SecurityContext | Security settings of a container; they win over the pod's.
  1* capabilities:Capabilities | Linux capabilities to add and to take away.
  2* privileged:bool | Whether the container may do what root on the node may.
  3* seLinuxOptions:SELinuxOptions | The SELinux label.
  10* windowsOptions:WindowsSecurityContextOptions | Settings for Windows.
  4* runAsUser:int64 | The user id to run as.
  8* runAsGroup:int64 | The group id to run as.
  5* runAsNonRoot:bool | Whether to refuse to run as root.
  6* readOnlyRootFilesystem:bool | Whether the image's files cannot be written.
  7* allowPrivilegeEscalation:bool | Whether processes can gain privileges.
  9* procMount:string(ProcMountType) | How the proc file system is mounted.
  11* seccompProfile:SeccompProfile | Which system calls may be made.
  12* appArmorProfile:AppArmorProfile | Which AppArmor profile confines the processes.

Capabilities | Linux capabilities to add and to take away.
  1 add:[]string(Capability) | To add.
  2 drop:[]string(Capability) | To take away.
`
