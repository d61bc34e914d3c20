/** What the tests of widths show: the longest values that are usual. */
export const NOW = new Date('2026-11-17T12:00:00Z')
export const TIME = '2026-11-16T12:00:00Z'
export const LATER = '2027-11-16T12:00:00Z'
/** As clouds call their machines. */
export const NODE = 'ip-10-0-131-201.eu-central-1.compute.internal'
export const CSR = 'node-csr-0123456789abcdefghijklmnopqrstuvwxyzABCDEF'
export const SERIAL = '5f2c9a41d07be86312f04c55aa90b1d75f2c9a41'
export const DIGEST = '5f2c9a41'.repeat(8)
export const PIN = `sha256:${DIGEST}`
export const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'
export const WHY =
  'its certificate was issued by the old CA, and it has not reported which CAs it trusts since then'
