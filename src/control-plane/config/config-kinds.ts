import {addedAuthorities} from './added-authorities.ts'
import {bootstrapTokens} from './bootstrap-tokens.ts'
import {clusterSigning} from './cluster-signing.ts'
import {etcdPrefix, etcdServers, filePath} from './etcd.ts'
import {
  address,
  atLeastOne,
  cidrs,
  count,
  domain,
  domains,
  duration,
  endpoint,
  hosts,
  keyAlgorithm,
  logPath,
  memoryMegabytes,
  nodeName,
  port,
  storeBytes,
  subnet,
  text,
  texts,
  truth,
  type Read,
} from './fields.ts'
import type {Field, Kinds} from './document-reader.ts'
import type {Choices} from './settings.ts'
import {featureGates} from './feature-gates.ts'
import {signers} from './signers.ts'

/** What a field of a configuration decides. */
export type Target =
  | keyof Choices
  | 'dir'
  | 'skipPhases'
  | 'generatedAuthorities'
  | 'joinedControlPlane'
  | 'bootstrapTokens'

const use = (to: Target, read: Read<unknown>): Field<Target> => ({to, read})
const unused = (...names: string[]): Record<string, Field<Target>> =>
  Object.fromEntries(names.map((name) => [name, 'unused']))

export const KUBEADM = 'kubeadm.k8s.io/v1beta4'
export const OURS = {apiVersion: 'trustadm.io/v1alpha1', kind: 'TrustadmConfiguration'} as const

/** kubeadm's documents that are for other commands. */
export const OTHER_KUBEADM_KINDS = [
  'JoinConfiguration',
  'ResetConfiguration',
  'UpgradeConfiguration',
]

/** What is read of each kind, by `apiVersion kind`. */
export const KINDS: Kinds<Target> = {
  [`${KUBEADM} InitConfiguration`]: {
    localAPIEndpoint: {
      advertiseAddress: use('advertiseAddress', address),
      bindPort: use('bindPort', port),
    },
    nodeRegistration: {
      name: use('nodeName', nodeName),
      ...unused('criSocket', 'taints', 'kubeletExtraArgs', 'ignorePreflightErrors'),
      ...unused('imagePullPolicy', 'imagePullSerial'),
    },
    skipPhases: use('skipPhases', texts),
    bootstrapTokens: use('bootstrapTokens', bootstrapTokens),
    ...unused('certificateKey', 'dryRun', 'patches', 'timeouts'),
  },
  [`${KUBEADM} ClusterConfiguration`]: {
    apiServer: {
      certSANs: use('certSANs', hosts),
      ...unused('extraArgs', 'extraVolumes', 'extraEnvs'),
    },
    networking: {
      serviceSubnet: use('serviceSubnet', subnet),
      dnsDomain: use('dnsDomain', domain),
      ...unused('podSubnet'),
    },
    controlPlaneEndpoint: use('controlPlaneEndpoint', endpoint),
    certificatesDir: use('certificatesDir', text),
    clusterName: use('clusterName', text),
    encryptionAlgorithm: use('keyAlgorithm', keyAlgorithm),
    certificateValidityPeriod: use('certificateValidityPeriod', duration),
    caCertificateValidityPeriod: use('caCertificateValidityPeriod', duration),
    etcd: {
      external: {
        endpoints: use('etcdServers', etcdServers),
        caFile: use('etcdCaFile', filePath),
        certFile: use('etcdCertFile', filePath),
        keyFile: use('etcdKeyFile', filePath),
        ...unused('httpEndpoints'),
      },
      ...unused('local'),
    },
    ...unused('kubernetesVersion', 'controllerManager', 'scheduler', 'dns', 'proxy'),
    ...unused('imageRepository', 'featureGates'),
  },
  [`${OURS.apiVersion} ${OURS.kind}`]: {
    dir: use('dir', text),
    advertiseAddress: use('advertiseAddress', address),
    bindAddress: use('bindAddress', address),
    bindPort: use('bindPort', port),
    nodeName: use('nodeName', nodeName),
    certSANs: use('certSANs', hosts),
    controlPlaneEndpoint: use('controlPlaneEndpoint', endpoint),
    certificatesDir: use('certificatesDir', text),
    clusterName: use('clusterName', text),
    serviceSubnet: use('serviceSubnet', subnet),
    dnsDomain: use('dnsDomain', domain),
    servingCIDRs: use('servingCIDRs', cidrs),
    servingDomains: use('servingDomains', domains),
    signers: use('signers', signers),
    authorities: use('authorities', addedAuthorities),
    clusterSigning: use('clusterSigning', clusterSigning),
    keyAlgorithm: use('keyAlgorithm', keyAlgorithm),
    certificateValidityPeriod: use('certificateValidityPeriod', duration),
    caCertificateValidityPeriod: use('caCertificateValidityPeriod', duration),
    auditLogPath: use('auditLogPath', logPath),
    auditLogMaxSize: use('auditLogMaxSize', atLeastOne),
    auditLogMaxBackup: use('auditLogMaxBackup', count),
    auditLogMaxAge: use('auditLogMaxAge', count),
    quotaBackendBytes: use('quotaBackendBytes', storeBytes),
    targetRamMb: use('targetRamMb', memoryMegabytes),
    certificateRequestsPerHour: use('certificateRequestsPerHour', atLeastOne),
    etcdServers: use('etcdServers', etcdServers),
    etcdCaFile: use('etcdCaFile', filePath),
    etcdCertFile: use('etcdCertFile', filePath),
    etcdKeyFile: use('etcdKeyFile', filePath),
    etcdPrefix: use('etcdPrefix', etcdPrefix),
    featureGates: use('featureGates', featureGates),
    generatedAuthorities: use('generatedAuthorities', texts),
    joinedControlPlane: use('joinedControlPlane', truth),
  },
}
