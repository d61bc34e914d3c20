import {hostname, networkInterfaces} from 'node:os'
import {join} from 'node:path'
import {DEFAULT_KEY_ALGORITHM, type KeyAlgorithm} from '../../pki/keys.ts'
import {AUTHORITY_LIFETIME, LEAF_LIFETIME} from '../../pki/lifetimes.ts'
import type {SignerSettings} from './signers.ts'

/** What an operator decides about a control plane, by flags or by a file. Names as in kubeadm, where it has them. */
export interface Settings {
  /** The address that clients are told. */
  advertiseAddress: string
  /** The address that the server listens on. */
  bindAddress: string
  /** 0 until the system has picked one; kept from then on. */
  bindPort: number
  nodeName: string
  certSANs: string[]
  /** `host` or `host:port` of a load balancer or a DNS name; clients are told this instead of the address. */
  controlPlaneEndpoint?: string
  certificatesDir: string
  clusterName: string
  serviceSubnet: string
  dnsDomain: string
  /** Addresses and names that nodes without a Machine may register and have a serving certificate for. */
  servingCIDRs: string[]
  servingDomains: string[]
  /** Besides Kubernetes' own. */
  signers: SignerSettings[]
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
  /** The most bytes that all stored objects may take; the server has a default for this and the next. */
  quotaBackendBytes?: number
  /** The most that one requester, such as a bootstrap token, may make within an hour. */
  certificateRequestsPerHour?: number
}

/** What was said; everything else is a default. */
export type Choices = Partial<Settings>

const DEFAULT_PORT = 6443

/** The first address of this machine that others may reach; an IPv4 one is preferred, as kubeadm does. */
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

/** Where this machine reaches its own server. */
export function localAddress({bindAddress}: Pick<Settings, 'bindAddress'>): string {
  return isWildcard(bindAddress) ? '127.0.0.1' : bindAddress
}
