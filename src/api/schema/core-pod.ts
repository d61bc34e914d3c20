/** Types of pods as they are asked for; parse.ts tells how a table is read. */
export const POD = `
Pod object | Pod.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:PodSpec! | Spec.
  3 status:PodStatus! | Status.

PodSpec | Pod spec.
  1 volumes:[]Volume merge(name) retainKeys | Volumes.
  20 initContainers:[]Container merge(name) | Init containers.
  2 containers:[]Container! required merge(name) | Containers.
  34 ephemeralContainers:[]EphemeralContainer merge(name) | Ephemeral containers.
  3 restartPolicy:string(RestartPolicy) | Restart policy.
  4* terminationGracePeriodSeconds:int64 | Termination grace period seconds.
  5* activeDeadlineSeconds:int64 | Active deadline seconds.
  6 dnsPolicy:string(DNSPolicy) | Dns policy.
  7 nodeSelector:map<string> atomic | Node selector.
  8 serviceAccountName:string | Service account name.
  9 serviceAccount:string | Service account.
  21* automountServiceAccountToken:bool | Automount service account token.
  10 nodeName:string | Node name.
  11 hostNetwork:bool | Host network.
  12 hostPID:bool | Host pid.
  13 hostIPC:bool | Host ipc.
  27* shareProcessNamespace:bool | Share process namespace.
  14* securityContext:PodSecurityContext | Security context.
  15 imagePullSecrets:[]LocalObjectReference merge(name) | Image pull secrets.
  16 hostname:string | Hostname.
  17 subdomain:string | Subdomain.
  18* affinity:Affinity | Affinity.
  19 schedulerName:string | Scheduler name.
  22 tolerations:[]Toleration | Tolerations.
  23 hostAliases:[]HostAlias merge(ip) | Host aliases.
  24 priorityClassName:string | Priority class name.
  25* priority:int32 | Priority.
  26* dnsConfig:PodDNSConfig | Dns config.
  28 readinessGates:[]PodReadinessGate | Readiness gates.
  29* runtimeClassName:string | Runtime class name.
  30* enableServiceLinks:bool | Enable service links.
  31* preemptionPolicy:string(PreemptionPolicy) | Preemption policy.
  32 overhead:map<Quantity> | Overhead.
  33 topologySpreadConstraints:[]TopologySpreadConstraint merge(topologyKey) keys(topologyKey,whenUnsatisfiable) | Topology spread constraints.
  35* setHostnameAsFQDN:bool | Set hostname as fqdn.
  36* os:PodOS | Os.
  37* hostUsers:bool | Host users.
  38 schedulingGates:[]PodSchedulingGate merge(name) | Scheduling gates.
  39 resourceClaims:[]PodResourceClaim merge(name) retainKeys | Resource claims.
  40* resources:ResourceRequirements | Resources.
  41* hostnameOverride:string | Hostname override.
  43* schedulingGroup:PodSchedulingGroup | Scheduling group.

PodTemplate object | Pod template.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 template:PodTemplateSpec! | Template.

PodTemplateSpec | Pod template spec.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:PodSpec! | Spec.

PodSecurityContext | Pod security context.
  1* seLinuxOptions:SELinuxOptions | Se linux options.
  8* windowsOptions:WindowsSecurityContextOptions | Windows options.
  2* runAsUser:int64 | Run as user.
  6* runAsGroup:int64 | Run as group.
  3* runAsNonRoot:bool | Run as non root.
  4 supplementalGroups:[]int64 | Supplemental groups.
  12* supplementalGroupsPolicy:string(SupplementalGroupsPolicy) | Supplemental groups policy.
  5* fsGroup:int64 | Fs group.
  7 sysctls:[]Sysctl | Sysctls.
  9* fsGroupChangePolicy:string(PodFSGroupChangePolicy) | Fs group change policy.
  10* seccompProfile:SeccompProfile | Seccomp profile.
  11* appArmorProfile:AppArmorProfile | App armor profile.
  13* seLinuxChangePolicy:string(PodSELinuxChangePolicy) | Se linux change policy.

Sysctl | Sysctl.
  1 name:string! required | Name.
  2 value:string! required | Value.

HostAlias | Host alias.
  1 ip:string! required | Ip.
  2 hostnames:[]string | Hostnames.

PodDNSConfig | Pod dnsconfig.
  1 nameservers:[]string | Nameservers.
  2 searches:[]string | Searches.
  3 options:[]PodDNSConfigOption | Options.

PodDNSConfigOption | Pod dnsconfig option.
  1 name:string | Name.
  2* value:string | Value.

PodReadinessGate | Pod readiness gate.
  1 conditionType:string(PodConditionType)! required | Condition type.

PodSchedulingGate | Pod scheduling gate.
  1 name:string! required | Name.

PodSchedulingGroup | Pod scheduling group.
  1* podGroupName:string | Pod group name.

PodOS | Pod os.
  1 name:string(OSName)! required | Name.

PodResourceClaim | Pod resource claim.
  1 name:string! required | Name.
  3* resourceClaimName:string | Resource claim name.
  4* resourceClaimTemplateName:string | Resource claim template name.

SELinuxOptions | Selinux options.
  1 user:string | User.
  2 role:string | Role.
  3 type:string | Type.
  4 level:string | Level.

SeccompProfile | Seccomp profile.
  1 type:string(SeccompProfileType)! required | Type.
  2* localhostProfile:string | Localhost profile.

AppArmorProfile | App armor profile.
  1 type:string(AppArmorProfileType)! required | Type.
  2* localhostProfile:string | Localhost profile.

WindowsSecurityContextOptions | Windows security context options.
  1* gmsaCredentialSpecName:string | Gmsa credential spec name.
  2* gmsaCredentialSpec:string | Gmsa credential spec.
  3* runAsUserName:string | Run as user name.
  4* hostProcess:bool | Host process.
`
