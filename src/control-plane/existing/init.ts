import type {ConfigMap} from '../../api/core.ts'
import {clusterInfoConfigMap, KUBECONFIG_KEY} from '../../bootstrap/cluster-info.ts'
import {parseClusterInfo, withAuthorities} from '../../bootstrap/parse-cluster-info.ts'
import {formatToken} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {type ServerAccess, withoutTrailingSlashes} from '../../client/server-access.ts'
import type {Phase} from '../../phases.ts'
import {encodeBundle, parseBundle} from '../../pki/bundle.ts'
import {KUBEADM} from '../config/config-kinds.ts'
import {ensureTokens, planTokens, type TokenContext} from '../init/bootstrap-token.ts'
import {inKubeSystem, kubeletConfigFor, NODE_PKI} from '../init/kubeadm-configs.ts'
import {
  AT_LEAST,
  ensureObjects,
  initialConfigMap,
  planObjects,
  wantedConfigMap,
  type WantedObject,
} from '../init/objects.ts'
import {discoveryRbac, joinRbac} from '../init/rbac.ts'
import {joinCommand, joinTarget} from '../tokens/join-command.ts'
import type {FoundControllers, MissingController, UncheckedController} from './controllers.ts'

/** The phases of `init` that work with a cluster that somebody else made, in their order. */
export const EXISTING_PHASE_NAMES = [
  'rbac',
  'kubeadm-config',
  'cluster-info',
  'bootstrap-token',
] as const

export type ExistingPhaseName = (typeof EXISTING_PHASE_NAMES)[number]

/** What these phases work with. */
interface ExistingContext extends TokenContext {
  client: ApiClient
  access: ServerAccess & {ca: string}
  /** A command line for this cluster. */
  commandFor: (command: string) => string
}

type ExistingPhase = Phase<ExistingContext, ExistingPhaseName>

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
const wantedConfigs = async (context: ExistingContext): Promise<WantedObject[]> => [
  initialConfigMap(await kubeadmConfig(context)),
  initialConfigMap(kubeletConfigFor(await dnsAddress(context.client), DOMAIN)),
]

const kubeadmConfigs: ExistingPhase = {
  name: 'kubeadm-config',
  summary: 'publish the settings that kubeadm and kubelets read',
  plan: async (context) => planObjects(context.client, await wantedConfigs(context)),
  run: async (context) => ensureObjects(context.client, await wantedConfigs(context), context.tell),
}

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

const wantedInfo = (context: ExistingContext): WantedObject[] => [
  wantedClusterInfo(context),
  ...discoveryRbac(AT_LEAST),
]

const clusterInfo: ExistingPhase = {
  name: 'cluster-info',
  summary: 'publish address and CA',
  plan: (context) => planObjects(context.client, wantedInfo(context)),
  run: (context) => ensureObjects(context.client, wantedInfo(context), context.tell),
}

/** What `init --kubeconfig` prints. */
export interface ExistingResult {
  endpoint: string
  caCertHashes: string[]
  /** Null with `--skip-token-print`, and if no token was created. */
  token: string | null
  joinCommand: string | null
  kubeconfig: string
  /** Controllers that joining needs, and that nobody runs in this cluster. */
  missingControllers: MissingController[]
  /** Those that somebody may run, or nobody: nothing shows it. */
  uncheckedControllers: UncheckedController[]
}

const rbac: ExistingPhase = {
  name: 'rbac',
  summary: 'allow machines to join',
  plan: ({client}) => planObjects(client, joinRbac(AT_LEAST)),
  run: ({client, tell}) => ensureObjects(client, joinRbac(AT_LEAST), tell),
}

const bootstrapToken: ExistingPhase = {
  name: 'bootstrap-token',
  summary: 'create a token for joining machines',
  plan: (context) => planTokens(context.client, context),
  run: (context) => ensureTokens(context.client, context, context.commandFor),
}

export const EXISTING_PHASES: Readonly<Record<ExistingPhaseName, ExistingPhase>> = {
  rbac,
  'kubeadm-config': kubeadmConfigs,
  'cluster-info': clusterInfo,
  'bootstrap-token': bootstrapToken,
}

/** The access with its CA, which machines pin; refuses one that has none. */
export function requireCa(access: ServerAccess): ExistingContext['access'] {
  joinTarget(access)
  return {...access, ca: access.ca ?? ''}
}

export function describeExisting(
  {access, joinToken}: Pick<ExistingContext, 'access' | 'joinToken'>,
  {
    kubeconfig,
    showsToken,
    controllers,
  }: {
    kubeconfig: string
    showsToken: boolean
    controllers: FoundControllers
  },
): ExistingResult {
  const target = joinTarget(access)
  const shown = showsToken ? joinToken : undefined
  return {
    endpoint: withoutTrailingSlashes(access.server),
    caCertHashes: [...target.caCertHashes],
    token: shown ? formatToken(shown.token) : null,
    joinCommand: shown ? joinCommand(target, shown) : null,
    kubeconfig,
    missingControllers: controllers.missing,
    uncheckedControllers: controllers.unchecked.map(({controller, reason}) => ({
      controller,
      reason,
    })),
  }
}
