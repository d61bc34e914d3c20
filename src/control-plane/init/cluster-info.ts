import {
  KUBECONFIG_KEY,
  clusterInfoConfigMap,
  type ClusterInfo,
} from '../../bootstrap/cluster-info.ts'
import {onlyInClusterInfo} from '../../controllers/bootstrap-signer.ts'
import {planeCommand} from '../plane-command.ts'
import {
  otherAuthorities,
  parseClusterInfo,
  withAuthorities,
} from '../../bootstrap/parse-cluster-info.ts'
import {TrustError} from '../../errors.ts'
import {CLUSTER_CA, findAuthority} from '../certificates.ts'
import {certDirOf, endpointOf, type Plane} from '../config/plane.ts'
import {readAuthorities, readSigning} from '../../trust/read-trust.ts'
import {nodeIssuersOf, trustSources} from '../signing.ts'
import {ensureObjects, planObjects, wantedConfigMap, type WantedObject} from './objects.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'
import {JOIN_RBAC} from './rbac.ts'

type PublishedInfo = ClusterInfo & {ca: string}

/** What an operator has made of the kubeconfig, with the current CAs; undefined if no machine can read it. */
function editedKubeconfig(
  found: string,
  {ca, issuers}: PublishedInfo,
): {text: string; server: string} | undefined {
  try {
    return {text: withAuthorities(found, ca, issuers), server: parseClusterInfo(found).server}
  } catch {
    return undefined
  }
}

/** cluster-info, in which the changes of an operator are kept, such as the address of a load balancer. */
function wantedClusterInfo(info: PublishedInfo, tell: (line: string) => void): WantedObject {
  const wanted = clusterInfoConfigMap(info)
  return wantedConfigMap(wanted, ({data = {}}) => {
    const edited = editedKubeconfig(data[KUBECONFIG_KEY] ?? '', info)
    if (edited === undefined) return wanted.data
    if (edited.server !== info.server) {
      tell(`cluster-info names the server ${edited.server}, not ${info.server}: this is kept`)
    }
    for (const authority of otherAuthorities(data[KUBECONFIG_KEY] ?? '', info.ca))
      tell(onlyInClusterInfo(authority))
    return {[KUBECONFIG_KEY]: edited.text}
  })
}

async function wantedConfigMaps(
  plane: Plane,
  tell: (line: string) => void,
): Promise<WantedObject[]> {
  const authority = await findAuthority(plane, CLUSTER_CA)
  if (!authority) {
    throw new TrustError('NOT_FOUND', `there is no CA in ${certDirOf(plane)} to publish`, {
      hints: [`run "${planeCommand(plane.dir, 'init phase certs')}" first`],
    })
  }
  const {certDir, catalog, signers} = await trustSources(plane)
  const authorities = await readAuthorities(certDir, catalog)
  const issuers = nodeIssuersOf({authorities, signing: await readSigning(signers, authorities)})
  const info = {server: endpointOf(plane), ca: authority.bundlePem, ...(issuers && {issuers})}
  return [wantedClusterInfo(info, tell)]
}

export const clusterInfo: InitPhase = {
  name: 'cluster-info',
  summary: 'publish address and CA, and allow machines to join',

  plan: (context) =>
    planAsAdmin(context, ['publish cluster-info, and allow machines to join'], async (client) =>
      planObjects(client, [...(await wantedConfigMaps(context.plane, context.tell)), ...JOIN_RBAC]),
    ),

  async run(context) {
    const {plane, tell} = context
    const configMaps = await wantedConfigMaps(plane, tell)
    await asAdmin(context, async (client) => {
      await ensureObjects(client, configMaps, tell)
      const outcomes = await Promise.all(JOIN_RBAC.map(({ensure}) => ensure(client)))
      const changed = outcomes.filter((outcome) => outcome !== 'is unchanged').length
      const rest = changed === 0 ? 'unchanged' : `${changed} created or updated`
      tell(`${outcomes.length} roles and bindings for joining machines: ${rest}`)
    })
  },
}
