/**
 * What trustadm's own controllers need beyond Kubernetes' roles, written as those are. They list and watch as
 * kube-controller-manager, so these are for what each does to single objects. What trustadm:csr-signer may sign is written when the signers are read.
 */
export const OWN_CLUSTER_ROLES = `
trustadm:csr-approver
  get | "" | nodes
trustadm:csr-signer
trustadm:kubelet-serving-approver
  get | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval
  approve | certificates.k8s.io | signers | names kubernetes.io/kubelet-serving
  create | "" | events
trustadm:node-record-cleaner
  get | "" | nodes
`

export const OWN_CLUSTER_ROLE_BINDINGS = `
trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
trustadm:csr-signer -> trustadm:csr-signer: ServiceAccount kube-system/certificate-controller
trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
trustadm:node-record-cleaner -> trustadm:node-record-cleaner: ServiceAccount kube-system/node-record-cleaner
`

export const OWN_ROLES = `
default/trustadm:kubelet-serving-approver
  get | "" | services | names kubernetes
kube-system/trustadm:csr-approver
  create,get,update | coordination.k8s.io | leases
kube-system/trustadm:node-record-cleaner
  delete | coordination.k8s.io | leases
kube-system/trustadm:kubelet-serving-approver
  get | "" | configmaps | names kubeadm-config
kube-system/trustadm:kubelet-serving-ca-publisher
  create | "" | configmaps
  update | "" | configmaps | names kubelet-serving-ca
kube-system/trustadm:kubelet-serving-ca-reader
  get,list,watch | "" | configmaps | names kubelet-serving-ca
`

export const OWN_ROLE_BINDINGS = `
default/trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
kube-system/trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
kube-system/trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
kube-system/trustadm:node-record-cleaner -> trustadm:node-record-cleaner: ServiceAccount kube-system/node-record-cleaner
kube-system/trustadm:kubelet-serving-ca-publisher -> trustadm:kubelet-serving-ca-publisher: ServiceAccount kube-system/kubelet-serving-ca-publisher
`
