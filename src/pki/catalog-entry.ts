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
