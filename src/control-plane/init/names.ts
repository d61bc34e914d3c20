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
