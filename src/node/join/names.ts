/** The names of the phases of `join`, in their order, apart from their code: help and the parser need no more. */
export const JOIN_PHASE_NAMES = [
  'preflight',
  'discovery',
  'for-kubelet',
  'tls-bootstrap',
  'kubeconfig',
  'register-node',
  'cleanup',
] as const

export type JoinPhaseName = (typeof JOIN_PHASE_NAMES)[number]
