/** Types of pod specs; parse.ts describes the format. */
export const POD = `
Pod object | Containers that run together on one node.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:PodSpec! | What is wanted.
  3 status:PodStatus! | What is observed.

PodSpec | What a pod should run, and how.
  1 volumes:[]Volume merge(name) retainKeys | Files that the containers can mount.
  20 initContainers:[]Container merge(name) | Containers that run one after the other, before the others.
  2 containers:[]Container! required merge(name) | The containers of the pod.
  34 ephemeralContainers:[]EphemeralContainer merge(name) | Containers that were added to look into the pod.
  3 restartPolicy:string(RestartPolicy) | When to start ended containers again: Always, OnFailure or Never.
  4* terminationGracePeriodSeconds:int64 | How long the containers have to stop by themselves.
  5* activeDeadlineSeconds:int64 | How long the pod may run before it is stopped.
  6 dnsPolicy:string(DNSPolicy) | How names are looked up.
  7 nodeSelector:map<string> atomic | Labels that a node must have.
  8 serviceAccountName:string | The service account that the pod runs as.
  9 serviceAccount:string | An old name for serviceAccountName.
  21* automountServiceAccountToken:bool | Whether containers get a token of the service account.
  10 nodeName:string | The node that the pod runs on.
  11 hostNetwork:bool | Whether the pod uses the node's network.
  12 hostPID:bool | Whether the pod sees the node's processes.
  13 hostIPC:bool | Whether the pod shares the node's interprocess communication.
  27* shareProcessNamespace:bool | Whether the containers see each other's processes.
  14* securityContext:PodSecurityContext | Security settings for all containers.
  15 imagePullSecrets:[]LocalObjectReference merge(name) | Secrets to pull images with.
  16 hostname:string | The pod's host name.
  17 subdomain:string | The domain below which the host name stands.
  18* affinity:Affinity | What draws the pod to nodes, or away from them.
  19 schedulerName:string | Who chooses the node.
  22 tolerations:[]Toleration | Taints that do not matter.
  23 hostAliases:[]HostAlias merge(ip) | Further lines of the hosts file.
  24 priorityClassName:string | How important the pod is, by name.
  25* priority:int32 | How important the pod is, as a number.
  26* dnsConfig:PodDNSConfig | Further settings for looking up names.
  28 readinessGates:[]PodReadinessGate | Further conditions for the pod to be ready.
  29* runtimeClassName:string | Which way to run the containers.
  30* enableServiceLinks:bool | Whether variables tell of the namespace's services.
  31* preemptionPolicy:string(PreemptionPolicy) | Whether less important pods may be pushed out.
  32 overhead:map<Quantity> | What running the pod costs beside its containers.
  33 topologySpreadConstraints:[]TopologySpreadConstraint merge(topologyKey) keys(topologyKey,whenUnsatisfiable) | How evenly the pod and its like are spread.
  35* setHostnameAsFQDN:bool | Whether the host name is the full name.
  36* os:PodOS | The operating system that the pod needs.
  37* hostUsers:bool | Whether the pod uses the node's users.
  38 schedulingGates:[]PodSchedulingGate merge(name) | Reasons to hold back the pod from being scheduled.
  39 resourceClaims:[]PodResourceClaim merge(name) retainKeys | Claims on devices.
  40* resources:ResourceRequirements | What all containers together need and may use.
  41* hostnameOverride:string | A host name in place of all other rules.
  43* schedulingGroup:PodSchedulingGroup | The group that the pod is scheduled together with.

PodTemplate object | A stored pattern to make pods from.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 template:PodTemplateSpec! | The pattern.

PodTemplateSpec | A pattern to make pods from.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:PodSpec! | What is wanted.

PodSecurityContext | Security settings for all containers of a pod.
  1* seLinuxOptions:SELinuxOptions | The SELinux label.
  8* windowsOptions:WindowsSecurityContextOptions | Settings for Windows.
  2* runAsUser:int64 | The user id to run as.
  6* runAsGroup:int64 | The group id to run as.
  3* runAsNonRoot:bool | Whether to refuse to run as root.
  4 supplementalGroups:[]int64 | Further group ids of the processes.
  12* supplementalGroupsPolicy:string(SupplementalGroupsPolicy) | Whether the image's own groups count too.
  5* fsGroup:int64 | The group that owns the files of volumes.
  7 sysctls:[]Sysctl | Kernel parameters.
  9* fsGroupChangePolicy:string(PodFSGroupChangePolicy) | When to change the owner of the files.
  10* seccompProfile:SeccompProfile | Which system calls may be made.
  11* appArmorProfile:AppArmorProfile | Which AppArmor profile confines the processes.
  13* seLinuxChangePolicy:string(PodSELinuxChangePolicy) | How the SELinux label gets onto volumes.

Sysctl | A kernel parameter and its value.
  1 name:string! required | Its name.
  2 value:string! required | The value.

HostAlias | A line of the hosts file of a pod.
  1 ip:string! required | The IP address.
  2 hostnames:[]string | The names for the address.

PodDNSConfig | How the containers of a pod look up names.
  1 nameservers:[]string | Addresses of name servers.
  2 searches:[]string | Domains to try.
  3 options:[]PodDNSConfigOption | Options of the resolver.

PodDNSConfigOption | An option of the resolver.
  1 name:string | Its name.
  2* value:string | The value.

PodReadinessGate | A further condition that must be true before a pod counts as ready.
  1 conditionType:string(PodConditionType)! required | The condition that must be true.

PodSchedulingGate | A reason to hold back a pod from being scheduled.
  1 name:string! required | Its name.

PodSchedulingGroup | The group of pods that a pod is scheduled together with.
  1* podGroupName:string | The group's name.

PodOS | The operating system that a pod needs.
  1 name:string(OSName)! required | Its name.

PodResourceClaim | A claim on devices that containers of the pod may use.
  1 name:string! required | Its name.
  3* resourceClaimName:string | The name of the ResourceClaim.
  4* resourceClaimTemplateName:string | The template to make a ResourceClaim from.

SELinuxOptions | The SELinux label of a container.
  1 user:string | The user part of the label.
  2 role:string | The role part of the label.
  3 type:string | The type part of the label.
  4 level:string | The level part of the label.

SeccompProfile | Which system calls a container may make.
  1 type:string(SeccompProfileType)! required | Where the profile comes from: Localhost, RuntimeDefault or Unconfined.
  2* localhostProfile:string | The profile's file or name on the node, where the type is Localhost.

AppArmorProfile | Which AppArmor profile confines a container.
  1 type:string(AppArmorProfileType)! required | Where the profile comes from: Localhost, RuntimeDefault or Unconfined.
  2* localhostProfile:string | The profile's file or name on the node, where the type is Localhost.

WindowsSecurityContextOptions | Security settings that exist on Windows only.
  1* gmsaCredentialSpecName:string | The name of the credential spec.
  2* gmsaCredentialSpec:string | The credential spec itself.
  3* runAsUserName:string | The user to run as.
  4* hostProcess:bool | Whether the container runs right on the node.
`
