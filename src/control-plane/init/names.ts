/** The names of the phases of `init`, in their order, apart from their code: help and the parser need no more. */
export const INIT_PHASE_NAMES = [
  'preflight',
  'certs',
  'kubeconfig',
  'control-plane',
  'namespaces',
  'rbac',
  'kubeadm-config',
  'cluster-info',
  'mark-control-plane',
  'bootstrap-token',
  'upload-certs',
] as const

export type InitPhaseName = (typeof INIT_PHASE_NAMES)[number]

/** What the phase `certs` can be limited to: kubeadm's names, ours, and `etcd` for everything of an etcd. */
export const CERT_NAMES = [
  'all',
  'ca',
  'apiserver',
  'apiserver-kubelet-client',
  'front-proxy-ca',
  'front-proxy-client',
  'kubelet-serving-ca',
  'legacy-unknown-ca',
  'etcd',
  'etcd-ca',
  'etcd-server',
  'etcd-peer',
  'etcd-healthcheck-client',
  'apiserver-etcd-client',
  'sa',
] as const

export type CertName = (typeof CERT_NAMES)[number]
