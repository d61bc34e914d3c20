import {KUBECONFIG_KEY, clusterInfoConfigMap} from '../../bootstrap/cluster-info.ts'
import {parseClusterInfo, withAuthorities} from '../../bootstrap/parse-cluster-info.ts'
import {withoutTrailingSlashes} from '../../client/server-access.ts'
import {encodeBundle, parseBundle} from '../../pki/bundle.ts'
import {
  AT_LEAST,
  ensureObjects,
  planObjects,
  wantedConfigMap,
  type WantedObject,
} from '../init/objects.ts'
import {discoveryRbac} from '../init/rbac.ts'
import type {ExistingContext, ExistingPhase} from './phase.ts'

/** A cluster-info that machines can read is kept. The CAs of the kubeconfig, which verified the server, are added if they are missing. */
function wantedClusterInfo({access, tell}: ExistingContext): WantedObject {
  const {server, ca, tlsServerName} = access
  const info = {
    server: withoutTrailingSlashes(server),
    ca: encodeBundle(parseBundle(ca)),
    ...(tlsServerName !== undefined && {tlsServerName}),
  }
  const wanted = clusterInfoConfigMap(info)
  return wantedConfigMap(wanted, ({data = {}}) => {
    const text = data[KUBECONFIG_KEY] ?? ''
    const found = readableInfo(text)
    if (!found) return wanted.data
    if (found.server !== info.server) {
      tell(`cluster-info names the server ${found.server}, not ${info.server}: this is kept`)
    }
    if (found.ca === undefined) return {[KUBECONFIG_KEY]: text}
    const all = encodeBundle([...parseBundle(found.ca), ...parseBundle(info.ca)])
    return {[KUBECONFIG_KEY]: withAuthorities(text, all, found.issuers)}
  })
}

function readableInfo(text: string) {
  try {
    return parseClusterInfo(text)
  } catch {
    return undefined
  }
}

const wantedObjects = (context: ExistingContext): WantedObject[] => [
  wantedClusterInfo(context),
  ...discoveryRbac(AT_LEAST),
]

export const clusterInfo: ExistingPhase = {
  name: 'cluster-info',
  summary: 'publish address and CA',
  plan: (context) => planObjects(context.client, wantedObjects(context)),
  run: (context) => ensureObjects(context.client, wantedObjects(context), context.tell),
}
