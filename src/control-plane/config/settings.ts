import {hostname, networkInterfaces} from 'node:os'
import {join} from 'node:path'
import {DEFAULT_KEY_ALGORITHM, type KeyAlgorithm} from '../../pki/keys.ts'
import {AUTHORITY_LIFETIME, LEAF_LIFETIME} from '../../pki/lifetimes.ts'
import type {AddedAuthority} from './added-authorities.ts'
import type {ClusterSigning} from './cluster-signing.ts'
import type {FeatureGates} from './feature-gates.ts'
import type {SignerSettings} from './signers.ts'

/** The settings of a control plane, from flags or a file. Names as in kubeadm, if it has them. */
export interface Settings {
  /** The address that clients use. */
  advertiseAddress: string
  /** The address that the server listens on. */
  bindAddress: string
  /** 0 until a free port has been picked; fixed from then on. */
  bindPort: number
  nodeName: string
  certSANs: string[]
  /** `host` or `host:port` of a load balancer or a DNS name; clients use this instead of the address. */
  controlPlaneEndpoint?: string
  certificatesDir: string
  clusterName: string
  serviceSubnet: string
  dnsDomain: string
  /** Addresses and names for which nodes without a Machine may get a serving certificate, if they have registered them. */
  servingCIDRs: string[]
  servingDomains: string[]
  /** In addition to those of Kubernetes. */
  signers: SignerSettings[]
  /** CAs in addition to those of the catalog. */
  authorities: AddedAuthority[]
  /** What Kubernetes' signers sign with, if not with the CAs of the catalog. */
  clusterSigning?: ClusterSigning
  keyAlgorithm: KeyAlgorithm
  /** In milliseconds, as the next. */
  certificateValidityPeriod: number
  caCertificateValidityPeriod: number
  /** Without it, in the folder of the control plane. */
  auditLogPath?: string
  /** In megabytes. */
  auditLogMaxSize: number
  /** Files kept beside the current one; 0: all. */
  auditLogMaxBackup: number
  /** In days; 0 for no limit. */
  auditLogMaxAge: number
  /** The maximum size of all stored objects in bytes; the server has defaults for this and the next three. */
  quotaBackendBytes?: number
  /** Memory besides the stored objects, in megabytes. */
  targetRamMb?: number
  /** The maximum number of requests by one requester, such as a bootstrap token, in an hour. */
  certificateRequestsPerHour?: number
  /** In milliseconds: how long a server answers without news of the store. */
  storeTimeout?: number
  /** The members of an etcd cluster that is the store; without it, the embedded one. */
  etcdServers?: string[]
  etcdCaFile?: string
  etcdCertFile?: string
  etcdKeyFile?: string
  etcdPrefix?: string
  /** What is switched off. */
  featureGates?: FeatureGates
}

/** The given settings; the others have defaults. */
export type Choices = Partial<Settings>

const DEFAULT_PORT = 6443

/** The first address of this machine that others can reach; IPv4 is preferred, as in kubeadm. */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({internal, address}) => !internal && !address.startsWith('fe80:'))
  const found = addresses.find(({family}) => family === 'IPv4') ?? addresses[0]
  return found?.address ?? '127.0.0.1'
}

export function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

/** A server that listens on one address only is reached by that one. */
function advertised({bindAddress}: Choices): string {
  return bindAddress === undefined || isWildcard(bindAddress) ? ownAddress() : bindAddress
}

/** Fills in the defaults. */
export function complete(dir: string, choices: Choices): Settings {
  const advertiseAddress = choices.advertiseAddress ?? advertised(choices)
  return {
    bindAddress: advertiseAddress.includes(':') ? '::' : '0.0.0.0',
    bindPort: DEFAULT_PORT,
    nodeName: hostname().toLowerCase(),
    certSANs: [],
    certificatesDir: join(dir, 'pki'),
    clusterName: 'kubernetes',
    serviceSubnet: '10.96.0.0/12',
    dnsDomain: 'cluster.local',
    servingCIDRs: [],
    servingDomains: [],
    signers: [],
    authorities: [],
    keyAlgorithm: DEFAULT_KEY_ALGORITHM,
    certificateValidityPeriod: LEAF_LIFETIME,
    caCertificateValidityPeriod: AUTHORITY_LIFETIME,
    auditLogMaxSize: 10,
    auditLogMaxBackup: 9,
    auditLogMaxAge: 0,
    ...choices,
    advertiseAddress,
  }
}

/** The address at which this machine reaches its own server. */
export function localAddress({bindAddress}: Pick<Settings, 'bindAddress'>): string {
  return isWildcard(bindAddress) ? '127.0.0.1' : bindAddress
}
