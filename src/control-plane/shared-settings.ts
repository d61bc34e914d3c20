import {stringify} from 'yaml'
import {formatDuration} from '../bootstrap/durations.ts'
import {messageOf, TrustError} from '../errors.ts'
import {parseConfigFile} from './config/config-file.ts'
import {OURS} from './config/config-kinds.ts'
import {etcdOf} from './config/etcd.ts'
import type {Choices, Settings} from './config/settings.ts'

/** What all servers of a control plane have in common. No commands, no paths, nothing of one machine. */
const SHARED = [
  'certSANs',
  'controlPlaneEndpoint',
  'clusterName',
  'serviceSubnet',
  'dnsDomain',
  'servingCIDRs',
  'servingDomains',
  'keyAlgorithm',
  'certificateValidityPeriod',
  'caCertificateValidityPeriod',
  'quotaBackendBytes',
  'certificateRequestsPerHour',
  'storeTimeout',
  'featureGates',
  'etcdServers',
  'etcdPrefix',
] as const satisfies (keyof Settings)[]

/** What a machine that joins cannot do without, and may believe whoever may write ConfigMaps in kube-system. */
const NEEDED = [
  'certSANs',
  'controlPlaneEndpoint',
  'clusterName',
  'serviceSubnet',
  'dnsDomain',
  'keyAlgorithm',
] as const satisfies (keyof Settings)[]

export interface SharedSettings {
  choices: Choices
  /** The UID of the namespace kube-system. */
  cluster: string
}

const pick = (all: Choices, names: readonly (keyof Settings)[]): Choices =>
  Object.fromEntries(
    names.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]),
  )

const UNREADABLE = 'the settings in the Secret kube-system/kubeadm-certs cannot be read'

/** For the Secret that the certificate key seals. */
export function formatShared(settings: Settings, cluster: string): string {
  const {certificateValidityPeriod, caCertificateValidityPeriod, storeTimeout} = settings
  const document = {
    ...OURS,
    ...pick(settings, SHARED),
    certificateValidityPeriod: formatDuration(certificateValidityPeriod),
    caCertificateValidityPeriod: formatDuration(caCertificateValidityPeriod),
    ...(storeTimeout !== undefined && {storeTimeout: formatDuration(storeTimeout)}),
    // Not left to the default of another release.
    ...(settings.etcdServers && {etcdPrefix: etcdOf(settings)?.prefix}),
  }
  return JSON.stringify({cluster, settings: stringify(document, {lineWidth: 0})})
}

/** Throws if it is something else that the same key seals. */
export function parseShared(text: string): SharedSettings {
  try {
    const {cluster, settings} = JSON.parse(text) as Record<string, unknown>
    if (typeof cluster === 'string' && cluster !== '' && typeof settings === 'string') {
      return {choices: pick(parseConfigFile(settings, 'the settings').choices, SHARED), cluster}
    }
  } catch (error) {
    throw new TrustError('CERTS_UNUSABLE', `${UNREADABLE}: ${messageOf(error)}`)
  }
  throw new TrustError('CERTS_UNUSABLE', UNREADABLE)
}

/** Where kubeadm-config says that the store is. */
export type ClaimedStore = Pick<Choices, 'etcdServers' | 'etcdPrefix'>

/** What kubeadm-config says, apart from where the store is: nobody vouches for that. */
export function readUnsealed(data: Readonly<Record<string, string>> = {}): {
  choices: Choices
  claimed: ClaimedStore
} {
  const texts = [data.ClusterConfiguration, data[OURS.kind]].filter((text) => text !== undefined)
  if (texts.length === 0) return {choices: {}, claimed: {}}
  const {choices} = parseConfigFile(texts.join('\n---\n'), 'kubeadm-config')
  return {choices: pick(choices, NEEDED), claimed: pick(choices, ['etcdServers', 'etcdPrefix'])}
}
