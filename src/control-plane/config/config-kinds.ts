import {parseDuration} from '../../bootstrap/durations.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {parseUsages, requireGroups} from '../../bootstrap/token-info.ts'
import {parseToken} from '../../bootstrap/token.ts'
import {TrustError} from '../../errors.ts'
import type {WantedToken} from '../tokens/create.ts'
import {addedAuthorities} from './added-authorities.ts'
import {clusterSigning} from './cluster-signing.ts'
import type {Field, Kinds} from './document-reader.ts'
import {etcdPrefix, etcdServers, filePath} from './etcd.ts'
import {featureGates} from './feature-gates.ts'
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
  type Read,
  storeBytes,
  subnet,
  text,
  texts,
  truth,
} from './fields.ts'
import type {Choices} from './settings.ts'
import {signers} from './signers.ts'

/** The value is not shown: in the wrong line, or with a letter too many, it is still most of a token. */
function refuse(name: string, expected: string): never {
  throw new TrustError('CONFIG_INVALID', `${name} must be ${expected}`)
}

const plainText: Read<string> = (value, name) =>
  typeof value === 'string' ? value : refuse(name, 'a string')

const time: Read<Date> = (value, name) =>
  parseTimestamp(plainText(value, name)) ?? refuse(name, 'a time as in "2027-01-31T12:00:00Z"')

const FIELDS: {[Name in keyof WantedToken]-?: Read<WantedToken[Name]>} = {
  token: (value, name) => parseToken(plainText(value, name)),
  description: plainText,
  ttl: (value, name) => parseDuration(text(value, name), name),
  expires: time,
  usages: (value, name) => parseUsages(texts(value, name)),
  groups: (value, name) => requireGroups(texts(value, name)),
}

const isField = (name: string): name is keyof WantedToken => Object.hasOwn(FIELDS, name)

function bootstrapToken(value: unknown, name: string): WantedToken {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(name, 'a map')
  }
  const wanted: WantedToken = {}
  for (const [field, content] of Object.entries(value)) {
    if (!isField(field)) {
      throw new TrustError('CONFIG_INVALID', `${name} has an unknown field`, {
        hints: [`the fields are ${Object.keys(FIELDS).join(', ')}`],
      })
    }
    if (content !== null)
      Object.assign(wanted, {[field]: FIELDS[field](content, `${name}.${field}`)})
  }
  return wanted
}

/** `bootstrapTokens` of kubeadm's InitConfiguration. */
const bootstrapTokens: Read<WantedToken[]> = (value, name) =>
  Array.isArray(value)
    ? value.map((one: unknown, index) => bootstrapToken(one, `${name}[${index}]`))
    : refuse(name, 'a list of tokens')

/** What a field of a configuration decides. */
type Target =
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
    storeTimeout: use('storeTimeout', duration),
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
