/** The names of the steps of `init`, apart from their code: help and the parser need no more. */
export const PHASE_NAMES = [
  'preflight',
  'certs',
  'kubeconfig',
  'control-plane',
  'namespaces',
  'rbac',
  'cluster-info',
  'bootstrap-token',
] as const

export type PhaseName = (typeof PHASE_NAMES)[number]
