/** What trustadm's own controllers need beyond Kubernetes' roles, written as those are. */
export const OWN_CLUSTER_ROLES = `
trustadm:csr-approver
  get,list,watch | "" | nodes
trustadm:kubelet-serving-approver
  get,list,watch | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval
  approve | certificates.k8s.io | signers | names kubernetes.io/kubelet-serving
  get,list,watch | "" | nodes
  get,list,watch | machine.openshift.io | machines
  create,patch,update | "",events.k8s.io | events
`

export const OWN_CLUSTER_ROLE_BINDINGS = `
trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
`

export const OWN_ROLES = `
kube-system/trustadm:csr-approver
  create,get,list,update,watch | coordination.k8s.io | leases
`

export const OWN_ROLE_BINDINGS = `
kube-system/trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
`
