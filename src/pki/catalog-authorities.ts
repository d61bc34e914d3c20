import type {AuthoritySpec, PairPlace} from './catalog-entry.ts'

const pair = (path: string): PairPlace => ({kind: 'pair', crt: `${path}.crt`, key: `${path}.key`})
const always = {when: 'always'} as const
const externalEtcd = {when: 'external-etcd'} as const
const separateClients = {when: 'separate-clients'} as const

/** Every CA that a control plane may have. */
export const AUTHORITIES: readonly AuthoritySpec[] = [
  {
    id: 'ca',
    commonName: 'kubernetes',
    place: pair('ca'),
    trustedFor: ['api-server', 'client'],
    ...always,
  },
  {
    id: 'front-proxy-ca',
    commonName: 'front-proxy-ca',
    place: pair('front-proxy-ca'),
    trustedFor: ['front-proxy'],
    ...always,
  },
  // The first rotation creates these two. Until then "ca" signs clients too, as kubeadm has it.
  {
    id: 'client-ca',
    commonName: 'kubernetes-client-ca',
    place: pair('client-ca'),
    trustedFor: ['client'],
    ...separateClients,
  },
  {
    id: 'kubelet-ca',
    commonName: 'kubelet-ca',
    place: pair('kubelet-ca'),
    trustedFor: ['kubelet-client'],
    ...separateClients,
  },
  // A CA that signs for nodes or unknown requesters is never one that verifies the API server or its clients.
  {
    id: 'kubelet-serving-ca',
    commonName: 'kubelet-serving-ca',
    place: pair('kubelet-serving-ca'),
    trustedFor: ['kubelet-serving'],
    ...always,
  },
  {
    id: 'legacy-unknown-ca',
    commonName: 'legacy-unknown-ca',
    place: pair('legacy-unknown-ca'),
    trustedFor: [],
    ...always,
  },
  {
    id: 'etcd-ca',
    commonName: 'etcd-ca',
    place: pair('etcd/ca'),
    trustedFor: ['etcd'],
    ...externalEtcd,
  },
]
