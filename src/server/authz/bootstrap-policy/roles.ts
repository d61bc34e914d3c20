/** Kubernetes' default Roles, `namespace/name`, with rules as those of the ClusterRoles. */
export const ROLES = `
kube-public/system:controller:bootstrap-signer
  get,list,watch | "" | configmaps
  update | "" | configmaps | names cluster-info
  create,patch,update | "",events.k8s.io | events
kube-system/extension-apiserver-authentication-reader
  get,list,watch | "" | configmaps | names extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
kube-system/system::leader-locking-kube-scheduler
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
kube-system/system:controller:bootstrap-signer
  get,list,watch | "" | secrets
kube-system/system:controller:cloud-provider
  create,get,list,watch | "" | configmaps
kube-system/system:controller:token-cleaner
  delete,get,list,watch | "" | secrets
  create,patch,update | "",events.k8s.io | events
`

/** The RoleBindings to them: `namespace/name -> role: subjects`. */
export const ROLE_BINDINGS = `
kube-public/system:controller:bootstrap-signer -> system:controller:bootstrap-signer: ServiceAccount kube-system/bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader -> extension-apiserver-authentication-reader: User system:kube-controller-manager, User system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager -> system::leader-locking-kube-controller-manager: User system:kube-controller-manager, ServiceAccount kube-system/kube-controller-manager, ServiceAccount kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler -> system::leader-locking-kube-scheduler: User system:kube-scheduler, ServiceAccount kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer -> system:controller:bootstrap-signer: ServiceAccount kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider -> system:controller:cloud-provider: ServiceAccount kube-system/cloud-provider
kube-system/system:controller:token-cleaner -> system:controller:token-cleaner: ServiceAccount kube-system/token-cleaner
`
