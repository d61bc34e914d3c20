import type {Subject} from './distinguished-name.ts'
import {NO_NAMES, namesOfHosts, type SubjectNames} from './subject-names.ts'
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
type When = 'always' | 'external-etcd'

/** Two files of the certificate folder. */
export interface PairPlace {
  kind: 'pair'
  crt: string
  key: string
}
interface KubeconfigPlace {
  kind: 'kubeconfig'
  file: string
}
/** Where a leaf is stored. */
export type Place = PairPlace | KubeconfigPlace

/** What a CA is for. It is trusted for its purposes and for nothing else. */
export const PURPOSES = ['api-server', 'client', 'etcd', 'front-proxy', 'kubelet-serving'] as const
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
const kubeconfig = (file: string): KubeconfigPlace => ({kind: 'kubeconfig', file})
const always = {when: 'always'} as const
const externalEtcd = {when: 'external-etcd'} as const

/** kubeadm's group of cluster administrators, whose rights come from RBAC and can be revoked there. */
const CLUSTER_ADMINS = 'kubeadm:cluster-admins'

const nameless = (): Readonly<SubjectNames> => NO_NAMES
const clientOnly = {names: nameless, usages: ['digital signature', 'client auth']} as const

/** The host of `host`, `host:port`, `[v6]:port`; a bare IPv6 address is its own host. */
export function hostOf(endpoint: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(endpoint)?.[1]
  return bracketed ?? /^([^:]+):\d+$/.exec(endpoint)?.[1] ?? endpoint
}

function apiServerNames({
  nodeName,
  advertiseAddress,
  controlPlaneEndpoint,
  extraNames = [],
  serviceAddress = '10.96.0.1',
  dnsDomain = 'cluster.local',
}: CatalogContext): SubjectNames {
  return namesOfHosts([
    nodeName,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${dnsDomain}`,
    'localhost',
    serviceAddress,
    advertiseAddress,
    '127.0.0.1',
    '::1',
    ...(controlPlaneEndpoint === undefined ? [] : [hostOf(controlPlaneEndpoint)]),
    ...extraNames,
  ])
}

const etcdNames = ({nodeName, advertiseAddress}: CatalogContext): SubjectNames =>
  namesOfHosts([nodeName, 'localhost', advertiseAddress, '127.0.0.1', '::1'])

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

/**
 * The CA of a bootstrap credential. `bootstrap-credential create` makes one for each credential: it signs one certificate, then its key is destroyed.
 * It is in no file, and trusted only while a ConfigMap names it, so neither `init` nor a restart can bring back a revoked one.
 */
export const BOOTSTRAP_SIGNER = {
  id: 'kubelet-bootstrap-kubeconfig-signer',
  commonName: 'kubelet-bootstrap-kubeconfig-signer',
  usages: ['digital signature', 'client auth'],
} as const satisfies {id: string; commonName: string; usages: readonly Usage[]}

export const LEAVES: readonly LeafSpec[] = [
  {
    id: 'apiserver',
    authority: 'ca',
    subject: {commonName: 'kube-apiserver'},
    names: apiServerNames,
    usages: ['digital signature', 'server auth'],
    place: pair('apiserver'),
    ...always,
  },
  {
    id: 'apiserver-kubelet-client',
    authority: 'ca',
    subject: {commonName: 'kube-apiserver-kubelet-client', organizations: [CLUSTER_ADMINS]},
    ...clientOnly,
    place: pair('apiserver-kubelet-client'),
    ...always,
  },
  {
    id: 'front-proxy-client',
    authority: 'front-proxy-ca',
    subject: {commonName: 'front-proxy-client'},
    ...clientOnly,
    place: pair('front-proxy-client'),
    ...always,
  },
  {
    id: 'admin.conf',
    authority: 'ca',
    subject: {commonName: 'kubernetes-admin', organizations: [CLUSTER_ADMINS]},
    ...clientOnly,
    place: kubeconfig('admin.conf'),
    ...always,
  },
  {
    id: 'super-admin.conf',
    authority: 'ca',
    subject: {commonName: 'kubernetes-super-admin', organizations: ['system:masters']},
    ...clientOnly,
    place: kubeconfig('super-admin.conf'),
    ...always,
  },
  {
    id: 'controller-manager.conf',
    authority: 'ca',
    subject: {commonName: 'system:kube-controller-manager'},
    ...clientOnly,
    place: kubeconfig('controller-manager.conf'),
    ...always,
  },
  {
    id: 'scheduler.conf',
    authority: 'ca',
    subject: {commonName: 'system:kube-scheduler'},
    ...clientOnly,
    place: kubeconfig('scheduler.conf'),
    ...always,
  },
  {
    id: 'apiserver-etcd-client',
    authority: 'etcd-ca',
    subject: {commonName: 'kube-apiserver-etcd-client'},
    ...clientOnly,
    place: pair('apiserver-etcd-client'),
    ...externalEtcd,
  },
  ...(['server', 'peer'] as const).map((role): LeafSpec => ({
    id: `etcd-${role}`,
    authority: 'etcd-ca',
    subject: {commonName: `etcd-${role}`},
    names: etcdNames,
    // Members of an etcd cluster are servers and clients to each other.
    usages: ['digital signature', 'server auth', 'client auth'],
    place: pair(`etcd/${role}`),
    ...externalEtcd,
  })),
  {
    id: 'etcd-healthcheck-client',
    authority: 'etcd-ca',
    subject: {commonName: 'kube-etcd-healthcheck-client'},
    ...clientOnly,
    place: pair('etcd/healthcheck-client'),
    ...externalEtcd,
  },
]

/** The keys that sign and verify service-account tokens. */
export const SERVICE_ACCOUNT_KEYS: KeyPairSpec = {
  id: 'sa',
  privateKey: 'sa.key',
  publicKey: 'sa.pub',
}

export interface Catalog {
  authorities: readonly AuthoritySpec[]
  leaves: readonly LeafSpec[]
}

/** The entries that a control plane of this kind has. */
export function catalogFor({
  externalEtcd: hasEtcd = false,
}: {externalEtcd?: boolean} = {}): Catalog {
  const isPart = ({when}: {when: When}) => when === 'always' || hasEtcd
  return {authorities: AUTHORITIES.filter(isPart), leaves: LEAVES.filter(isPart)}
}
