import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {KUBEADM} from '../config/config-kinds.ts'
import {NODE_PKI, inKubeSystem, kubeletConfigFor} from '../init/kubeadm-configs.ts'
import {ensureObjects, initialConfigMap, planObjects, type WantedObject} from '../init/objects.ts'
import type {ExistingContext, ExistingPhase} from './phase.ts'

const DOMAIN = 'cluster.local'
/** The Service of the cluster's DNS, whichever program answers there. */
const DNS = {namespace: 'kube-system', name: 'kube-dns'}
const RELEASE = /^v\d+\.\d+\.\d+/

async function dnsAddress({services}: Pick<ApiClient, 'services'>): Promise<string | undefined> {
  const {clusterIP} = (await services.find(DNS))?.spec ?? {}
  return clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? undefined : clusterIP
}

/** What a machine can know about a cluster that kubeadm did not make: the rest is kubeadm's defaults. */
async function kubeadmConfig({client, access}: ExistingContext): Promise<ConfigMap> {
  const {gitVersion} = await client.version()
  const {host, port} = new URL(access.server)
  const [kubernetesVersion] = RELEASE.exec(gitVersion) ?? []
  return inKubeSystem('kubeadm-config', 'ClusterConfiguration', {
    apiVersion: KUBEADM,
    certificatesDir: NODE_PKI,
    clusterName: 'kubernetes',
    controlPlaneEndpoint: port === '' ? `${host}:443` : host,
    kind: 'ClusterConfiguration',
    ...(kubernetesVersion !== undefined && {kubernetesVersion}),
    networking: {dnsDomain: DOMAIN},
  })
}

/** What is there is kept, whatever it says: it is the configuration of somebody else's cluster. */
const wantedObjects = async (context: ExistingContext): Promise<WantedObject[]> => [
  initialConfigMap(await kubeadmConfig(context)),
  initialConfigMap(kubeletConfigFor(await dnsAddress(context.client), DOMAIN)),
]

export const kubeadmConfigs: ExistingPhase = {
  name: 'kubeadm-config',
  summary: 'publish the settings that kubeadm and kubelets read',
  plan: async (context) => planObjects(context.client, await wantedObjects(context)),
  run: async (context) => ensureObjects(context.client, await wantedObjects(context), context.tell),
}
