/** The signers that every cluster has: seed document, "Signers". */
export const API_SERVER_CLIENT = 'kubernetes.io/kube-apiserver-client'
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving'
/** Of v1beta1 only: nobody has to trust what it signs. */
export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown'

export const WELL_KNOWN_SIGNERS = [
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
] as const

export type WellKnownSigner = (typeof WELL_KNOWN_SIGNERS)[number]
