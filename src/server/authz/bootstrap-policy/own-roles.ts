import {OWN_NAMESPACE} from '../../../trust/own-namespace.ts'
import {REVOCATION_NAMES} from '../../../trust/revocations.ts'

const REVOCATION_LIST = REVOCATION_NAMES.join(',')

/**
 * What trustadm's own controllers need beyond Kubernetes' roles, written as those are. They list and watch as
 * kube-controller-manager, so these are for what each does to single objects. trustadm:certificate-revoker is for people:
 * an administrator binds all roles of that name to them. What trustadm:csr-signer may sign is written when the signers are read.
 */
export const OWN_CLUSTER_ROLES = `
trustadm:certificate-revoker
  get,list | certificates.k8s.io | certificatesigningrequests
  get | "" | nodes
trustadm:csr-approver
  get | "" | nodes
  get | "" | configmaps | names kubelet-bootstrap-kubeconfig
  get | "" | secrets | names node-bootstrapper-token
trustadm:csr-signer
trustadm:kubelet-serving-approver
  get | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval
  approve | certificates.k8s.io | signers | names kubernetes.io/kubelet-serving
  create | "" | events
trustadm:machine-approver
  get | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval
  approve | certificates.k8s.io | signers | names kubernetes.io/kube-apiserver-client-kubelet
  create | "" | events
  get | "" | nodes
  get | "" | configmaps | names kubelet-bootstrap-kubeconfig
  get | "" | secrets | names node-bootstrapper-token
trustadm:node-link
  patch | machine.openshift.io | machines/status
trustadm:node-record-cleaner
  get | "" | nodes
trustadm:service-account-token-controller
  get,create,update,delete | "" | secrets
  get | "" | serviceaccounts
  create | "" | serviceaccounts/token
  create | "" | events
`

export const OWN_CLUSTER_ROLE_BINDINGS = `
trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
trustadm:csr-signer -> trustadm:csr-signer: ServiceAccount kube-system/certificate-controller
trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
trustadm:machine-approver -> trustadm:machine-approver: ServiceAccount kube-system/machine-approver
trustadm:node-link -> trustadm:node-link: ServiceAccount kube-system/node-link
trustadm:node-record-cleaner -> trustadm:node-record-cleaner: ServiceAccount kube-system/node-record-cleaner
trustadm:service-account-token-controller -> trustadm:service-account-token-controller: ServiceAccount kube-system/service-account-token-controller
`

export const OWN_ROLES = `
kube-system/trustadm:certificate-revoker
  get,update,patch | "" | configmaps | names ${REVOCATION_LIST}
${OWN_NAMESPACE}/trustadm:certificate-revoker
  get,list | "" | configmaps
kube-system/trustadm:revocation-cleaner
  get,update | "" | configmaps | names ${REVOCATION_LIST}
  create | "" | events
default/trustadm:kubelet-serving-approver
  get | "" | services | names kubernetes
${OWN_NAMESPACE}/trustadm:csr-approver
  create,get,update | "" | configmaps
${OWN_NAMESPACE}/trustadm:kubelet-serving-approver
  get | "" | configmaps
${OWN_NAMESPACE}/trustadm:machine-approver
  create,get,update | "" | configmaps
${OWN_NAMESPACE}/trustadm:node-record-cleaner
  delete | "" | configmaps
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
${OWN_NAMESPACE}/trustadm:csr-approver -> trustadm:csr-approver: ServiceAccount kube-system/certificate-controller
kube-system/trustadm:revocation-cleaner -> trustadm:revocation-cleaner: ServiceAccount kube-system/revocation-cleaner
${OWN_NAMESPACE}/trustadm:kubelet-serving-approver -> trustadm:kubelet-serving-approver: ServiceAccount kube-system/kubelet-serving-approver
${OWN_NAMESPACE}/trustadm:machine-approver -> trustadm:machine-approver: ServiceAccount kube-system/machine-approver
${OWN_NAMESPACE}/trustadm:node-record-cleaner -> trustadm:node-record-cleaner: ServiceAccount kube-system/node-record-cleaner
kube-system/trustadm:kubelet-serving-ca-publisher -> trustadm:kubelet-serving-ca-publisher: ServiceAccount kube-system/kubelet-serving-ca-publisher
`
