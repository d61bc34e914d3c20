/** Types of services; parse.ts describes the format. */
export const SERVICE = `
Service object | A stable address for a changing set of pods.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:ServiceSpec! | What is wanted.
  3 status:ServiceStatus! | What is observed.

ServiceSpec | How a service is reached, and what stands behind it.
  1 ports:[]ServicePort merge(port) keys(port,protocol) | The ports of the service.
  2 selector:map<string> atomic | Labels of the pods behind the service.
  3 clusterIP:string | The address within the cluster; None for none.
  18 clusterIPs:[]string | The addresses within the cluster, one for each IP family.
  4 type:string(ServiceType) | How it is reached: ClusterIP, NodePort, LoadBalancer or ExternalName.
  5 externalIPs:[]string | Further addresses at which nodes take traffic.
  7 sessionAffinity:string(ServiceAffinity) | ClientIP keeps a client on one pod; None does not.
  8 loadBalancerIP:string | The address wished for; outdated.
  9 loadBalancerSourceRanges:[]string | Who may reach the load balancer.
  10 externalName:string | The name that stands behind the service.
  11 externalTrafficPolicy:string(ServiceExternalTrafficPolicy) | Whether traffic from outside stays on its node: Cluster or Local.
  12 healthCheckNodePort:int32 | The port that tells load balancers which nodes have pods.
  13 publishNotReadyAddresses:bool | Whether pods that are not ready count too.
  14* sessionAffinityConfig:SessionAffinityConfig | Details of how a client is kept on one pod.
  19 ipFamilies:[]string(IPFamily) | IPv4, IPv6 or both.
  17* ipFamilyPolicy:string(IPFamilyPolicy) | Whether one IP family is wanted, or two.
  20* allocateLoadBalancerNodePorts:bool | Whether a load balancer needs ports of the nodes.
  21* loadBalancerClass:string | Who should make the load balancer.
  22* internalTrafficPolicy:string(ServiceInternalTrafficPolicy) | Whether traffic from inside stays on its node: Cluster or Local.
  23* trafficDistribution:string | Which pods are preferred, such as close ones.

ServicePort | A port of a service.
  1 name:string | Its name.
  2 protocol:string(Protocol) default(TCP) | TCP, UDP or SCTP.
  6* appProtocol:string | What is spoken on the port, such as kubernetes.io/h2c.
  3 port:int32! required | The port of the service.
  4 targetPort:IntOrString! | The port of the pods, by number or name.
  5 nodePort:int32 | The port of every node.

SessionAffinityConfig | Details of how a client is kept on one pod.
  1* clientIP:ClientIPConfig | How long a client's address is remembered.

ClientIPConfig | How long a client's address is remembered.
  1* timeoutSeconds:int32 | How many seconds.

ServiceStatus | What is known of a service now.
  1 loadBalancer:LoadBalancerStatus! | The load balancer.
  2 conditions:[]meta.Condition merge(type) | Observations, one of each type.

LoadBalancerStatus | What is known of a service's load balancer.
  1 ingress:[]LoadBalancerIngress | Where it takes traffic.

LoadBalancerIngress | An address at which a load balancer takes traffic.
  1 ip:string | The IP address.
  2 hostname:string | The name of the load balancer.
  3* ipMode:string(LoadBalancerIPMode) | How traffic for the address arrives: VIP or Proxy.
  4 ports:[]PortStatus | The ports of the load balancer.

PortStatus | A port of a load balancer.
  1 port:int32! required | The port.
  2 protocol:string(Protocol)! required | TCP, UDP or SCTP.
  3* error:string | What is wrong with the port.
`
