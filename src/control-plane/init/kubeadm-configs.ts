import {stringify} from 'yaml'
import type {ConfigMap} from '../../api/core.ts'
import {ipFromBytes, ipToBytes} from '../../pki/ip-address.ts'
import {KUBERNETES_VERSION} from '../../version.ts'
import {KUBEADM, OURS} from '../config/config-kinds.ts'
import {etcdOf} from '../config/etcd.ts'
import {formatDuration} from '../../bootstrap/durations.ts'
import type {Settings} from '../config/settings.ts'
import {serviceRange} from '../config/fields.ts'
import {ETCD_FILES} from '../shared-certs.ts'
import {ensureObjects, initialConfigMap, planObjects, wantedConfigMap} from './objects.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'

/** The paths of kubeadm and the kubelet on machines that join, whatever the folders of this one are. */
export const NODE_PKI = '/etc/kubernetes/pki'
const NODE_MANIFESTS = '/etc/kubernetes/manifests'

export const inKubeSystem = (name: string, key: string, value: object): ConfigMap => ({
  metadata: {name, namespace: 'kube-system'},
  data: {[key]: stringify(value, {lineWidth: 0})},
})

/** What `kubeadm join` reads about the cluster first; beside it, what only our servers have in common. */
function kubeadmConfig(settings: Settings): ConfigMap {
  const {metadata, data} = inKubeSystem(
    'kubeadm-config',
    'ClusterConfiguration',
    clusterConfiguration(settings),
  )
  return {metadata, data: {...data, ...commonConfiguration(settings)}}
}

function clusterConfiguration(settings: Settings): object {
  const {certSANs, controlPlaneEndpoint, clusterName, dnsDomain, serviceSubnet} = settings
  return {
    apiServer: certSANs.length === 0 ? {} : {certSANs},
    apiVersion: KUBEADM,
    caCertificateValidityPeriod: formatDuration(settings.caCertificateValidityPeriod),
    certificateValidityPeriod: formatDuration(settings.certificateValidityPeriod),
    certificatesDir: NODE_PKI,
    clusterName,
    ...(controlPlaneEndpoint !== undefined && {controlPlaneEndpoint}),
    encryptionAlgorithm: settings.keyAlgorithm,
    ...(settings.etcdServers && {etcd: {external: externalEtcd(settings)}}),
    kind: 'ClusterConfiguration',
    kubernetesVersion: KUBERNETES_VERSION,
    networking: {dnsDomain, serviceSubnet},
  }
}

/** The files are named as a machine that joins will have them. */
function externalEtcd(settings: Settings): object {
  const {etcdServers: endpoints, etcdCaFile, etcdCertFile, etcdKeyFile} = settings
  const path = (name: keyof typeof ETCD_FILES) => `${NODE_PKI}/${ETCD_FILES[name]}`
  return {
    ...(etcdCaFile !== undefined && {caFile: path('etcdCaFile')}),
    ...(etcdCertFile !== undefined && {certFile: path('etcdCertFile')}),
    endpoints,
    ...(etcdKeyFile !== undefined && {keyFile: path('etcdKeyFile')}),
  }
}

/** What all servers on one etcd must have in common, and kubeadm has no name for. Of the embedded store there is one server. */
function commonConfiguration(settings: Settings): ConfigMap['data'] {
  const etcd = etcdOf(settings)
  if (!etcd) return {}
  const {servingCIDRs, servingDomains, quotaBackendBytes, certificateRequestsPerHour} = settings
  const document = {
    ...OURS,
    etcdPrefix: etcd.prefix,
    servingCIDRs,
    servingDomains,
    ...(quotaBackendBytes !== undefined && {quotaBackendBytes}),
    ...(certificateRequestsPerHour !== undefined && {certificateRequestsPerHour}),
    ...(settings.featureGates && {featureGates: settings.featureGates}),
  }
  return {[OURS.kind]: stringify(document, {lineWidth: 0})}
}

/** The tenth address of the services, where kubeadm puts the cluster's DNS; undefined if there are fewer. */
function dnsAddress(serviceSubnet: string): string | undefined {
  const {first, contains} = serviceRange(serviceSubnet)
  const bytes = ipToBytes(first)
  const last = bytes.length - 1
  bytes.writeUInt8(((bytes[last] ?? 0) + 9) % 256, last)
  const tenth = ipFromBytes(bytes)
  return tenth !== undefined && contains(tenth) ? tenth : undefined
}

const kubeletConfig = ({serviceSubnet, dnsDomain}: Settings): ConfigMap =>
  kubeletConfigFor(dnsAddress(serviceSubnet), dnsDomain)

/** The configuration that `kubeadm join` gives to the kubelet of a machine, with kubeadm's defaults. */
export function kubeletConfigFor(dns: string | undefined, dnsDomain: string): ConfigMap {
  return inKubeSystem('kubelet-config', 'kubelet', {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    authentication: {
      anonymous: {enabled: false},
      webhook: {enabled: true},
      x509: {clientCAFile: `${NODE_PKI}/ca.crt`},
    },
    authorization: {mode: 'Webhook'},
    cgroupDriver: 'systemd',
    ...(dns !== undefined && {clusterDNS: [dns]}),
    clusterDomain: dnsDomain,
    healthzBindAddress: '127.0.0.1',
    healthzPort: 10248,
    kind: 'KubeletConfiguration',
    rotateCertificates: true,
    staticPodPath: NODE_MANIFESTS,
  })
}

const configMapsOf = (settings: Settings) => [
  wantedConfigMap(kubeadmConfig(settings)),
  initialConfigMap(kubeletConfig(settings)),
]

export const kubeadmConfigs: InitPhase = {
  name: 'kubeadm-config',
  summary: 'publish the settings that kubeadm and kubelets read',

  plan: (context) =>
    planAsAdmin(context, ['publish kubeadm-config and kubelet-config'], (client) =>
      planObjects(client, configMapsOf(context.plane.settings)),
    ),

  run: (context) =>
    asAdmin(context, async (client) => {
      await ensureObjects(client, configMapsOf(context.plane.settings), context.tell)
    }),
}
