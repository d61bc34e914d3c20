import {clusterInfoConfigMap} from '../../bootstrap/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import {findClusterAuthority} from '../certificates.ts'
import {certDirOf, endpointOf, type Plane} from '../config/plane.ts'
import {findServer} from '../server-state.ts'
import {JOIN_RBAC} from './join-rbac.ts'
import {kubeadmConfig, kubeletConfig} from './kubeadm-configs.ts'
import {initialConfigMap, wantedConfigMap, type WantedObject} from './objects.ts'
import type {Phase} from './phase.ts'

async function wantedConfigMaps(plane: Plane): Promise<WantedObject[]> {
  const authority = await findClusterAuthority(plane)
  if (!authority) {
    throw new TrustError('NOT_FOUND', `there is no CA in ${certDirOf(plane)} to tell machines of`, {
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

export const clusterInfo: Phase = {
  name: 'cluster-info',
  summary: 'publish address and CA, and let machines ask to join',

  async plan({plane, connect}) {
    if (!(await findServer(plane))) {
      return ['publish cluster-info, kubeadm-config and kubelet-config, and who may read them']
    }
    const client = await connect(plane)
    try {
      const lines: string[] = []
      for (const {name, isThere} of [...(await wantedConfigMaps(plane)), ...JOIN_RBAC]) {
        if (!(await isThere(client))) lines.push(`see to the ${name}`)
      }
      return lines
    } finally {
      await client.close()
    }
  },

  async run({plane, connect, tell}) {
    const configMaps = await wantedConfigMaps(plane)
    const client = await connect(plane)
    try {
      for (const {name, ensure} of configMaps) tell(`the ${name} ${await ensure(client)}`)
      const outcomes = await Promise.all(JOIN_RBAC.map(({ensure}) => ensure(client)))
      const changed = outcomes.filter((outcome) => outcome !== 'is kept').length
      const rest = changed === 0 ? 'all of them kept' : `${changed} of them made or put right`
      tell(`${outcomes.length} roles and bindings of machines that join are there, ${rest}`)
    } finally {
      await client.close()
    }
  },
}
