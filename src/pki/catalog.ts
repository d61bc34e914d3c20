import {
  AUTHORITIES,
  type AuthoritySpec,
  type CatalogContext,
  type KeyPairSpec,
  type KubeconfigPlace,
  type LeafSpec,
  type PairPlace,
  type When,
} from './catalog-authorities.ts'
import {NO_NAMES, namesOfHosts, type SubjectNames} from './subject-names.ts'
import type {Usage} from './usages.ts'

export {AUTHORITIES} from './catalog-authorities.ts'
export {PURPOSES} from './catalog-authorities.ts'
export type {
  AuthoritySpec,
  CatalogContext,
  KeyPairSpec,
  LeafSpec,
  PairPlace,
  Place,
  Purpose,
} from './catalog-authorities.ts'

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

/** What kind of control plane it is. */
interface CatalogKind {
  externalEtcd?: boolean
  /** Whether clients have CAs of their own, as after the first rotation. */
  separateClients?: boolean
}

/** The CA of a leaf once clients have CAs of their own. */
const SEPARATE_AUTHORITY: Readonly<Record<string, string>> = {
  apiserver: 'ca',
  'apiserver-kubelet-client': 'kubelet-ca',
}

const separated = (leaf: LeafSpec): LeafSpec =>
  leaf.authority === 'ca' ? {...leaf, authority: SEPARATE_AUTHORITY[leaf.id] ?? 'client-ca'} : leaf

const forServersOnly = (spec: AuthoritySpec): AuthoritySpec =>
  spec.id === 'ca' ? {...spec, trustedFor: ['api-server']} : spec

/** The entries that a control plane of this kind has. */
export function catalogFor(kind: CatalogKind = {}): Catalog {
  const {externalEtcd: hasEtcd = false, separateClients = false} = kind
  const parts: Record<When, boolean> = {
    always: true,
    'external-etcd': hasEtcd,
    'separate-clients': separateClients,
  }
  const isPart = ({when}: {when: When}) => parts[when]
  const [authorities, leaves] = [AUTHORITIES.filter(isPart), LEAVES.filter(isPart)]
  return separateClients
    ? {authorities: authorities.map(forServersOnly), leaves: leaves.map(separated)}
    : {authorities, leaves}
}
