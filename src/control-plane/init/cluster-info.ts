import {clusterInfoConfigMap} from '../../bootstrap/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import {CLUSTER_CA, findAuthority} from '../certificates.ts'
import {certDirOf, endpointOf, type Plane} from '../config/plane.ts'
import {kubeadmConfig, kubeletConfig} from './kubeadm-configs.ts'
import {
  ensureObjects,
  initialConfigMap,
  planObjects,
  wantedConfigMap,
  type WantedObject,
} from './objects.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'
import {JOIN_RBAC} from './rbac.ts'

async function wantedConfigMaps(plane: Plane): Promise<WantedObject[]> {
  const authority = await findAuthority(plane, CLUSTER_CA)
  if (!authority) {
    throw new TrustError('NOT_FOUND', `there is no CA in ${certDirOf(plane)} to publish`, {
      hints: ['run "trustadm init phase certs" first'],
    })
  }
  const info = clusterInfoConfigMap({server: endpointOf(plane), ca: authority.bundlePem})
  return [
    wantedConfigMap(info),
    wantedConfigMap(kubeadmConfig(plane.settings)),
    initialConfigMap(kubeletConfig(plane.settings)),
  ]
}

export const clusterInfo: InitPhase = {
  name: 'cluster-info',
  summary: 'publish address and CA, and allow machines to join',

  plan: (context) =>
    planAsAdmin(
      context,
      ['publish cluster-info, kubeadm-config and kubelet-config, and who may read them'],
      async (client) =>
        planObjects(client, [...(await wantedConfigMaps(context.plane)), ...JOIN_RBAC]),
    ),

  async run(context) {
    const {plane, tell} = context
    const configMaps = await wantedConfigMaps(plane)
    await asAdmin(context, async (client) => {
      await ensureObjects(client, configMaps, tell)
      const outcomes = await Promise.all(JOIN_RBAC.map(({ensure}) => ensure(client)))
      const changed = outcomes.filter((outcome) => outcome !== 'is unchanged').length
      const rest = changed === 0 ? 'unchanged' : `${changed} created or updated`
      tell(`${outcomes.length} roles and bindings for joining machines: ${rest}`)
    })
  },
}
