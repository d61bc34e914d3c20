/** Types of containers; parse.ts tells how a table is read. */
export const CONTAINER = `
Container | Container.
  1 name:string! required | Name.
  2 image:string | Image.
  3 command:[]string | Command.
  4 args:[]string | Args.
  5 workingDir:string | Working dir.
  6 ports:[]ContainerPort merge(containerPort) keys(containerPort,protocol) | Ports.
  19 envFrom:[]EnvFromSource | Env from.
  7 env:[]EnvVar merge(name) | Env.
  8 resources:ResourceRequirements! | Resources.
  23 resizePolicy:[]ContainerResizePolicy | Resize policy.
  24* restartPolicy:string(ContainerRestartPolicy) | Restart policy.
  25 restartPolicyRules:[]ContainerRestartRule | Restart policy rules.
  9 volumeMounts:[]VolumeMount merge(mountPath) | Volume mounts.
  21 volumeDevices:[]VolumeDevice merge(devicePath) | Volume devices.
  10* livenessProbe:Probe | Liveness probe.
  11* readinessProbe:Probe | Readiness probe.
  22* startupProbe:Probe | Startup probe.
  12* lifecycle:Lifecycle | Lifecycle.
  13 terminationMessagePath:string | Termination message path.
  20 terminationMessagePolicy:string(TerminationMessagePolicy) | Termination message policy.
  14 imagePullPolicy:string(PullPolicy) | Image pull policy.
  15* securityContext:SecurityContext | Security context.
  16 stdin:bool | Stdin.
  17 stdinOnce:bool | Stdin once.
  18 tty:bool | Tty.

EphemeralContainer | Ephemeral container.
  1 (inline):EphemeralContainerCommon | Stands in the parent.
  2 targetContainerName:string | Target container name.

EphemeralContainerCommon | Ephemeral container common.
  1 name:string! required | Name.
  2 image:string | Image.
  3 command:[]string | Command.
  4 args:[]string | Args.
  5 workingDir:string | Working dir.
  6 ports:[]ContainerPort merge(containerPort) keys(containerPort,protocol) | Ports.
  19 envFrom:[]EnvFromSource | Env from.
  7 env:[]EnvVar merge(name) | Env.
  8 resources:ResourceRequirements! | Resources.
  23 resizePolicy:[]ContainerResizePolicy | Resize policy.
  24* restartPolicy:string(ContainerRestartPolicy) | Restart policy.
  25 restartPolicyRules:[]ContainerRestartRule | Restart policy rules.
  9 volumeMounts:[]VolumeMount merge(mountPath) | Volume mounts.
  21 volumeDevices:[]VolumeDevice merge(devicePath) | Volume devices.
  10* livenessProbe:Probe | Liveness probe.
  11* readinessProbe:Probe | Readiness probe.
  22* startupProbe:Probe | Startup probe.
  12* lifecycle:Lifecycle | Lifecycle.
  13 terminationMessagePath:string | Termination message path.
  20 terminationMessagePolicy:string(TerminationMessagePolicy) | Termination message policy.
  14 imagePullPolicy:string(PullPolicy) | Image pull policy.
  15* securityContext:SecurityContext | Security context.
  16 stdin:bool | Stdin.
  17 stdinOnce:bool | Stdin once.
  18 tty:bool | Tty.

ContainerPort | Container port.
  1 name:string | Name.
  2 hostPort:int32 | Host port.
  3 containerPort:int32! required | Container port.
  4 protocol:string(Protocol) default(TCP) | Protocol.
  5 hostIP:string | Host ip.

EnvFromSource | Env from source.
  1 prefix:string | Prefix.
  2* configMapRef:ConfigMapEnvSource | Config map ref.
  3* secretRef:SecretEnvSource | Secret ref.

ConfigMapEnvSource | Config map env source.
  1 (inline):LocalObjectReference | Stands in the parent.
  2* optional:bool | Optional.

SecretEnvSource | Secret env source.
  1 (inline):LocalObjectReference | Stands in the parent.
  2* optional:bool | Optional.

EnvVar | Env var.
  1 name:string! required | Name.
  2 value:string | Value.
  3* valueFrom:EnvVarSource | Value from.

EnvVarSource | Env var source.
  1* fieldRef:ObjectFieldSelector | Field ref.
  2* resourceFieldRef:ResourceFieldSelector | Resource field ref.
  3* configMapKeyRef:ConfigMapKeySelector | Config map key ref.
  4* secretKeyRef:SecretKeySelector | Secret key ref.
  5* fileKeyRef:FileKeySelector | File key ref.

ObjectFieldSelector atomic | Object field selector.
  1 apiVersion:string | Api version.
  2 fieldPath:string! required | Field path.

ResourceFieldSelector atomic | Resource field selector.
  1 containerName:string | Container name.
  2 resource:string! required | Resource.
  3 divisor:Quantity! | Divisor.

ConfigMapKeySelector atomic | Config map key selector.
  1 (inline):LocalObjectReference | Stands in the parent.
  2 key:string! required | Key.
  3* optional:bool | Optional.

SecretKeySelector atomic | Secret key selector.
  1 (inline):LocalObjectReference | Stands in the parent.
  2 key:string! required | Key.
  3* optional:bool | Optional.

FileKeySelector atomic | File key selector.
  1 volumeName:string! required | Volume name.
  2 path:string! required | Path.
  3 key:string! required | Key.
  4* optional:bool | Optional.

ResourceRequirements | Resource requirements.
  1 limits:map<Quantity> | Limits.
  2 requests:map<Quantity> | Requests.
  3 claims:[]ResourceClaim keys(name) | Claims.

ResourceClaim | Resource claim.
  1 name:string! required | Name.
  2 request:string | Request.

ContainerResizePolicy | Container resize policy.
  1 resourceName:string(ResourceName)! required | Resource name.
  2 restartPolicy:string(ResourceResizeRestartPolicy)! required | Restart policy.

ContainerRestartRule | Container restart rule.
  1 action:string(ContainerRestartRuleAction) | Action.
  2* exitCodes:ContainerRestartRuleOnExitCodes | Exit codes.

ContainerRestartRuleOnExitCodes | Container restart rule on exit codes.
  1 operator:string(ContainerRestartRuleOnExitCodesOperator) | Operator.
  2 values:[]int32 set | Values.

VolumeMount | Volume mount.
  1 name:string! required | Name.
  2 readOnly:bool | Read only.
  7* recursiveReadOnly:string(RecursiveReadOnlyMode) | Recursive read only.
  3 mountPath:string! required | Mount path.
  4 subPath:string | Sub path.
  5* mountPropagation:string(MountPropagationMode) | Mount propagation.
  6 subPathExpr:string | Sub path expr.

VolumeDevice | Volume device.
  1 name:string! required | Name.
  2 devicePath:string! required | Device path.

Probe | Probe.
  1 (inline):ProbeHandler | Stands in the parent.
  2 initialDelaySeconds:int32 | Initial delay seconds.
  3 timeoutSeconds:int32 | Timeout seconds.
  4 periodSeconds:int32 | Period seconds.
  5 successThreshold:int32 | Success threshold.
  6 failureThreshold:int32 | Failure threshold.
  7* terminationGracePeriodSeconds:int64 | Termination grace period seconds.

ProbeHandler | Probe handler.
  1* exec:ExecAction | Exec.
  2* httpGet:HTTPGetAction | Http get.
  3* tcpSocket:TCPSocketAction | Tcp socket.
  4* grpc:GRPCAction | Grpc.

Lifecycle | Lifecycle.
  1* postStart:LifecycleHandler | Post start.
  2* preStop:LifecycleHandler | Pre stop.
  3* stopSignal:string(Signal) | Stop signal.

LifecycleHandler | Lifecycle handler.
  1* exec:ExecAction | Exec.
  2* httpGet:HTTPGetAction | Http get.
  3* tcpSocket:TCPSocketAction | Tcp socket.
  4* sleep:SleepAction | Sleep.

ExecAction | Exec action.
  1 command:[]string | Command.

HTTPGetAction | Httpget action.
  1 path:string | Path.
  2 port:IntOrString! required | Port.
  3 host:string | Host.
  4 scheme:string(URIScheme) | Scheme.
  5 httpHeaders:[]HTTPHeader | Http headers.

HTTPHeader | Httpheader.
  1 name:string! required | Name.
  2 value:string! required | Value.

TCPSocketAction | Tcpsocket action.
  1 port:IntOrString! required | Port.
  2 host:string | Host.

GRPCAction | Grpcaction.
  1 port:int32! required | Port.
  2* service:string! | Service.

SleepAction | Sleep action.
  1 seconds:int64! required | Seconds.

SecurityContext | Security context.
  1* capabilities:Capabilities | Capabilities.
  2* privileged:bool | Privileged.
  3* seLinuxOptions:SELinuxOptions | Se linux options.
  10* windowsOptions:WindowsSecurityContextOptions | Windows options.
  4* runAsUser:int64 | Run as user.
  8* runAsGroup:int64 | Run as group.
  5* runAsNonRoot:bool | Run as non root.
  6* readOnlyRootFilesystem:bool | Read only root filesystem.
  7* allowPrivilegeEscalation:bool | Allow privilege escalation.
  9* procMount:string(ProcMountType) | Proc mount.
  11* seccompProfile:SeccompProfile | Seccomp profile.
  12* appArmorProfile:AppArmorProfile | App armor profile.

Capabilities | Capabilities.
  1 add:[]string(Capability) | Add.
  2 drop:[]string(Capability) | Drop.
`
