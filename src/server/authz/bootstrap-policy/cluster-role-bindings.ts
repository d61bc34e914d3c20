/** Kubernetes' default ClusterRoleBindings: `name -> role: subjects`. */
export const CLUSTER_ROLE_BINDINGS = `
cluster-admin -> cluster-admin: Group system:masters
system:basic-user -> system:basic-user: Group system:authenticated
system:controller:certificate-controller -> system:controller:certificate-controller: ServiceAccount kube-system/certificate-controller
system:controller:clusterrole-aggregation-controller -> system:controller:clusterrole-aggregation-controller: ServiceAccount kube-system/clusterrole-aggregation-controller
system:controller:generic-garbage-collector -> system:controller:generic-garbage-collector: ServiceAccount kube-system/generic-garbage-collector
system:controller:namespace-controller -> system:controller:namespace-controller: ServiceAccount kube-system/namespace-controller
system:controller:node-controller -> system:controller:node-controller: ServiceAccount kube-system/node-controller
system:controller:root-ca-cert-publisher -> system:controller:root-ca-cert-publisher: ServiceAccount kube-system/root-ca-cert-publisher
system:controller:service-account-controller -> system:controller:service-account-controller: ServiceAccount kube-system/service-account-controller
system:discovery -> system:discovery: Group system:authenticated
system:kube-controller-manager -> system:kube-controller-manager: User system:kube-controller-manager
system:kube-dns -> system:kube-dns: ServiceAccount kube-system/kube-dns
system:kube-scheduler -> system:kube-scheduler: User system:kube-scheduler
system:monitoring -> system:monitoring: Group system:monitoring
system:node -> system:node: (no subjects)
system:node-proxier -> system:node-proxier: User system:kube-proxy
system:public-info-viewer -> system:public-info-viewer: Group system:authenticated, Group system:unauthenticated
system:service-account-issuer-discovery -> system:service-account-issuer-discovery: Group system:serviceaccounts
system:volume-scheduler -> system:volume-scheduler: User system:kube-scheduler
`
