/**
 * Kubernetes' default ClusterRoles, as far as they matter here. A line without indent names a role; `part-of=x` labels it
 * for aggregation into x, `gathers=x` makes it an aggregated role. The lines below it are its rules:
 * `verbs | apiGroups | resources [| names …]` or `verbs | URLs …`.
 */
export const CLUSTER_ROLES = `
cluster-admin
  * | * | *
  * | URLs *
system:discovery
  get | URLs /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/
system:public-info-viewer
  get | URLs /healthz /livez /readyz /version /version/
system:basic-user
  create | authorization.k8s.io | selfsubjectaccessreviews,selfsubjectrulesreviews
  create | authentication.k8s.io | selfsubjectreviews
system:monitoring
  get | URLs /flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz
  get | "" | nodes/metrics
system:node-bootstrapper
  create,get,list,watch | certificates.k8s.io | certificatesigningrequests
system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create | certificates.k8s.io | certificatesigningrequests/nodeclient
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create | certificates.k8s.io | certificatesigningrequests/selfnodeclient
system:certificates.k8s.io:kube-apiserver-client-approver
  approve | certificates.k8s.io | signers | names kubernetes.io/kube-apiserver-client
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve | certificates.k8s.io | signers | names kubernetes.io/kube-apiserver-client-kubelet
system:certificates.k8s.io:kubelet-serving-approver
  approve | certificates.k8s.io | signers | names kubernetes.io/kubelet-serving
system:certificates.k8s.io:legacy-unknown-approver
  approve | certificates.k8s.io | signers | names kubernetes.io/legacy-unknown
system:service-account-issuer-discovery
  get | URLs /.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/
system:auth-delegator
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | subjectaccessreviews
system:kubelet-api-admin
  get,list,watch | "" | nodes
  proxy | "" | nodes
  * | "" | nodes/log,nodes/metrics,nodes/proxy,nodes/stats
  * | "" | nodes/configz,nodes/healthz,nodes/pods
system:node
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | localsubjectaccessreviews,subjectaccessreviews
  get,list,watch | "" | services
  create,get,list,watch | "" | nodes
  patch,update | "" | nodes/status
  patch,update | "" | nodes
  create,patch,update | "",events.k8s.io | events
  get,list,watch | "" | pods
  create,delete | "" | pods
  patch,update | "" | pods/status
  create | "" | pods/eviction
  get,list,watch | "" | configmaps,secrets
  get | "" | persistentvolumeclaims,persistentvolumes
  get | "" | endpoints
  create,get,list,watch | certificates.k8s.io | certificatesigningrequests
  create,delete,get,patch,update | coordination.k8s.io | leases
  get | storage.k8s.io | volumeattachments
  create | "" | serviceaccounts/token
  get,patch,update | "" | persistentvolumeclaims/status
  get,list,watch | storage.k8s.io | csidrivers
  create,delete,get,patch,update | storage.k8s.io | csinodes
  get,list,watch | node.k8s.io | runtimeclasses
  get | resource.k8s.io | resourceclaims
  deletecollection | resource.k8s.io | resourceslices
  get | "" | serviceaccounts
system:node-proxier
  list,watch | "" | endpoints,services
  get,list,watch | "" | nodes
  create,patch,update | "",events.k8s.io | events
  list,watch | networking.k8s.io | servicecidrs
  list,watch | discovery.k8s.io | endpointslices
system:kube-controller-manager
  create,patch,update | "",events.k8s.io | events
  create | coordination.k8s.io | leases
  get,update | coordination.k8s.io | leases | names kube-controller-manager
  create | "" | secrets,serviceaccounts
  delete | "" | secrets
  get | "" | configmaps,namespaces,secrets,serviceaccounts
  update | "" | secrets,serviceaccounts
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | subjectaccessreviews
  list,watch | * | *
  create | "" | serviceaccounts/token
system:controller:certificate-controller
  delete,get,list,watch | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval,certificatesigningrequests/status
  approve | certificates.k8s.io | signers | names kubernetes.io/kube-apiserver-client-kubelet
  sign | certificates.k8s.io | signers | names kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create | authorization.k8s.io | subjectaccessreviews
  create,patch,update | "",events.k8s.io | events
system:controller:service-account-controller
  create | "" | serviceaccounts
  create,patch,update | "",events.k8s.io | events
system:controller:root-ca-cert-publisher
  create,update | "" | configmaps
  create,patch,update | "",events.k8s.io | events
system:controller:namespace-controller
  delete,get,list,watch | "" | namespaces
  update | "" | namespaces/finalize,namespaces/status
  delete,deletecollection,get,list,watch | * | *
system:controller:generic-garbage-collector
  delete,get,list,patch,update,watch | * | *
  create,patch,update | "",events.k8s.io | events
system:controller:clusterrole-aggregation-controller
  escalate,get,list,patch,update,watch | rbac.authorization.k8s.io | clusterroles
system:controller:node-controller
  delete,get,list,patch,update,watch | "" | nodes
  patch,update | "" | nodes/status
  patch,update | "" | pods/status
  delete,get,list,watch | "" | pods
  create,patch,update | "",events.k8s.io | events
system:controller:ttl-controller
  list,patch,update,watch | "" | nodes
  create,patch,update | "",events.k8s.io | events
system:controller:legacy-service-account-token-cleaner
  get | "" | configmaps | names kube-apiserver-legacy-service-account-token-tracking
  delete,patch | "" | secrets
system:aggregate-to-view part-of=view
  get,list,watch | "" | configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
  get,list,watch | "" | bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
  get,list,watch | "" | namespaces
  get,list,watch | "",events.k8s.io | events
  get,list,watch | discovery.k8s.io | endpointslices
  get,list,watch | apps | controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
  get,list,watch | autoscaling | horizontalpodautoscalers,horizontalpodautoscalers/status
  get,list,watch | batch | cronjobs,cronjobs/status,jobs,jobs/status
  get,list,watch | extensions | daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
  get,list,watch | policy | poddisruptionbudgets,poddisruptionbudgets/status
  get,list,watch | networking.k8s.io | ingresses,ingresses/status,networkpolicies
  get,list,watch | resource.k8s.io | resourceclaims,resourceclaims/status,resourceclaimtemplates
system:aggregate-to-edit part-of=edit
  get,list,watch | "" | pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate | "" | serviceaccounts
  create,delete,deletecollection,patch,update | "" | pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create | "" | pods/eviction
  create,delete,deletecollection,patch,update | "" | configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
  create | "" | serviceaccounts/token
  create,delete,deletecollection,patch,update | "",events.k8s.io | events
  create,delete,deletecollection,patch,update | apps | daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
  create,delete,deletecollection,patch,update | autoscaling | horizontalpodautoscalers
  create,delete,deletecollection,patch,update | batch | cronjobs,jobs
  create,delete,deletecollection,patch,update | extensions | daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
  create,delete,deletecollection,patch,update | policy | poddisruptionbudgets
  create,delete,deletecollection,patch,update | networking.k8s.io | ingresses,networkpolicies
  create,delete,deletecollection,get,list,patch,update,watch | coordination.k8s.io | leases
  create,delete,deletecollection,patch,update | resource.k8s.io | resourceclaims,resourceclaimtemplates
system:aggregate-to-admin part-of=admin
  create | authorization.k8s.io | localsubjectaccessreviews
  create,delete,deletecollection,get,list,patch,update,watch | rbac.authorization.k8s.io | rolebindings,roles
view part-of=edit gathers=view
edit part-of=admin gathers=edit
admin gathers=admin
`

/** Kubernetes' default ClusterRoleBindings: `name -> role: subjects`. */
export const CLUSTER_ROLE_BINDINGS = `
cluster-admin -> cluster-admin: Group system:masters
system:basic-user -> system:basic-user: Group system:authenticated
system:controller:certificate-controller -> system:controller:certificate-controller: ServiceAccount kube-system/certificate-controller
system:controller:clusterrole-aggregation-controller -> system:controller:clusterrole-aggregation-controller: ServiceAccount kube-system/clusterrole-aggregation-controller
system:controller:generic-garbage-collector -> system:controller:generic-garbage-collector: ServiceAccount kube-system/generic-garbage-collector
system:controller:legacy-service-account-token-cleaner -> system:controller:legacy-service-account-token-cleaner: ServiceAccount kube-system/legacy-service-account-token-cleaner
system:controller:namespace-controller -> system:controller:namespace-controller: ServiceAccount kube-system/namespace-controller
system:controller:node-controller -> system:controller:node-controller: ServiceAccount kube-system/node-controller
system:controller:root-ca-cert-publisher -> system:controller:root-ca-cert-publisher: ServiceAccount kube-system/root-ca-cert-publisher
system:controller:service-account-controller -> system:controller:service-account-controller: ServiceAccount kube-system/service-account-controller
system:controller:ttl-controller -> system:controller:ttl-controller: ServiceAccount kube-system/ttl-controller
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
