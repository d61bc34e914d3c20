import type {Subject} from './distinguished-name.ts'
import type {SubjectNames} from './subject-names.ts'
import type {Usage} from './usages.ts'

/** What the names in certificates depend on. */
export interface CatalogContext {
  nodeName: string
  advertiseAddress: string
  /** The `host` or `host:port` at which clients reach the control plane. */
  controlPlaneEndpoint?: string
  extraNames?: readonly string[]
  /** The address of the service `default/kubernetes`. */
  serviceAddress?: string
  dnsDomain?: string
}

/** In which control planes an entry exists. */
export type When = 'always' | 'external-etcd' | 'separate-clients'

/** Two files of the certificate folder. */
export interface PairPlace {
  kind: 'pair'
  crt: string
  key: string
}
export interface KubeconfigPlace {
  kind: 'kubeconfig'
  file: string
}
/** Where a leaf is stored. */
export type Place = PairPlace | KubeconfigPlace

/** What a CA is for. It is trusted for its purposes and for nothing else. */
export const PURPOSES = [
  'api-server',
  'client',
  'etcd',
  'front-proxy',
  'kubelet-client',
  'kubelet-serving',
] as const
export type Purpose = (typeof PURPOSES)[number]

export interface AuthoritySpec {
  id: string
  commonName: string
  place: PairPlace
  trustedFor: readonly Purpose[]
  when: When
}

export interface LeafSpec {
  id: string
  /** The id of the CA that signs it. */
  authority: string
  subject: Subject
  names: (context: CatalogContext) => Readonly<SubjectNames>
  usages: readonly Usage[]
  place: Place
  when: When
}

/** A pair of bare keys, without a certificate. */
export interface KeyPairSpec {
  id: string
  privateKey: string
  publicKey: string
}

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
