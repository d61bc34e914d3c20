/** Types of services; parse.ts tells how a table is read. */
export const SERVICE = `
Service object | Service.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:ServiceSpec! | Spec.
  3 status:ServiceStatus! | Status.

ServiceSpec | Service spec.
  1 ports:[]ServicePort merge(port) keys(port,protocol) | Ports.
  2 selector:map<string> atomic | Selector.
  3 clusterIP:string | Cluster ip.
  18 clusterIPs:[]string | Cluster ips.
  4 type:string(ServiceType) | Type.
  5 externalIPs:[]string | External ips.
  7 sessionAffinity:string(ServiceAffinity) | Session affinity.
  8 loadBalancerIP:string | Load balancer ip.
  9 loadBalancerSourceRanges:[]string | Load balancer source ranges.
  10 externalName:string | External name.
  11 externalTrafficPolicy:string(ServiceExternalTrafficPolicy) | External traffic policy.
  12 healthCheckNodePort:int32 | Health check node port.
  13 publishNotReadyAddresses:bool | Publish not ready addresses.
  14* sessionAffinityConfig:SessionAffinityConfig | Session affinity config.
  19 ipFamilies:[]string(IPFamily) | Ip families.
  17* ipFamilyPolicy:string(IPFamilyPolicy) | Ip family policy.
  20* allocateLoadBalancerNodePorts:bool | Allocate load balancer node ports.
  21* loadBalancerClass:string | Load balancer class.
  22* internalTrafficPolicy:string(ServiceInternalTrafficPolicy) | Internal traffic policy.
  23* trafficDistribution:string | Traffic distribution.

ServicePort | Service port.
  1 name:string | Name.
  2 protocol:string(Protocol) default(TCP) | Protocol.
  6* appProtocol:string | App protocol.
  3 port:int32! required | Port.
  4 targetPort:IntOrString! | Target port.
  5 nodePort:int32 | Node port.

SessionAffinityConfig | Session affinity config.
  1* clientIP:ClientIPConfig | Client ip.

ClientIPConfig | Client ipconfig.
  1* timeoutSeconds:int32 | Timeout seconds.

ServiceStatus | Service status.
  1 loadBalancer:LoadBalancerStatus! | Load balancer.
  2 conditions:[]meta.Condition merge(type) | Conditions.

LoadBalancerStatus | Load balancer status.
  1 ingress:[]LoadBalancerIngress | Ingress.

LoadBalancerIngress | Load balancer ingress.
  1 ip:string | Ip.
  2 hostname:string | Hostname.
  3* ipMode:string(LoadBalancerIPMode) | Ip mode.
  4 ports:[]PortStatus | Ports.

PortStatus | Port status.
  1 port:int32! required | Port.
  2 protocol:string(Protocol)! required | Protocol.
  3* error:string | Error.
`
