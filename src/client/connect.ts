import {isIPv6} from 'node:net'
import {join} from 'node:path'
import {systemClock, type Clock} from '../runtime.ts'
import {constantly, type Live} from '../trust/live.ts'
import {lookAt} from '../fs/file-checks.ts'
import {createApiClient, type ApiClient, type ApiClientOptions} from './api-client.ts'
import {credentialProblems, requireCertificates} from './credentials.ts'
import {ExecAccess} from './exec-access.ts'
import type {PluginOptions} from './exec-program.ts'
import {resolveAccess, type AccessOptions, tokenFromFile} from './kubeconfig-access.ts'
import {loadKubeconfig, type LoadOptions, readSmallFile} from './kubeconfig-files.ts'
import {parseKubeconfig} from './kubeconfig.ts'
import {RetryingTransport, type RetryOptions} from './retries.ts'
import type {ServerAccess} from './server-access.ts'
import {UndiciTransport, type TransportOptions} from './undici-transport.ts'
import type {Environment} from './proxy-rules.ts'

/** The path of a kubeconfig, or its content; without either, it is searched for as kubectl does. */
export type KubeconfigSource = string | {content: string} | undefined

interface FindOptions extends LoadOptions, Omit<AccessOptions, 'files'> {
  /** The folder of a pod's service account. */
  serviceAccount?: string | undefined
}

export interface ConnectOptions extends ClientOptions, FindOptions {}

export interface ClientOptions extends TransportOptions {
  retry?: RetryOptions | undefined
  onWarning?: ApiClientOptions['onWarning']
  onServerTime?: ApiClientOptions['onServerTime']
  clock?: Clock | undefined
  /** How the program of a kubeconfig that has one is run. */
  plugin?: Pick<PluginOptions, 'isTerminal' | 'isSilent' | 'longest'> | undefined
}

/** How long a command waits for each response, unless --request-timeout says otherwise. */
const REQUEST_TIMEOUT = 15_000

/**
 * For commands: a server that hangs is an error in time. The request's deadline counts, not that of its connection, which would be
 * tried again and again.
 */
export const waitingAtMost = (
  timeout = REQUEST_TIMEOUT,
): Pick<ClientOptions, 'timeout' | 'connectTimeout'> => ({timeout, connectTimeout: 2 * timeout})

/** A client of the server that a kubeconfig's context names. Nothing is sent yet. */
export async function connect(
  source?: KubeconfigSource,
  options: ConnectOptions = {},
): Promise<ApiClient> {
  return connectTo(await findAccess(source, options), options)
}

/** The server and the user of a kubeconfig. If there is none, those of the pod that this program runs in, as in client-go. */
export async function findAccess(
  source?: KubeconfigSource,
  options: FindOptions = {},
): Promise<ServerAccess> {
  const {context, cluster, user, environment = process.env, serviceAccount} = options
  const entries = {context, cluster, user}
  if (typeof source === 'object') {
    return await resolveAccess(parseKubeconfig(source.content), {...entries, files: false})
  }
  const config = await loadKubeconfig(source, options)
  const isEmpty = [config.clusters, config.contexts, config.users].every(({length}) => length === 0)
  const isChosen = Object.values(entries).some((name) => name !== undefined)
  const ofPod =
    source === undefined && isEmpty && !isChosen
      ? await inClusterAccess(environment, serviceAccount)
      : undefined
  return ofPod ?? (await resolveAccess(config, entries))
}

/** A client of a server that is known without a kubeconfig. */
export function connectTo(access: ServerAccess, options: ClientOptions = {}): ApiClient {
  const {exec} = access
  if (!exec) return connectLive(constantly(access), options)
  const {clock = systemClock, environment, plugin} = options
  const live = new ExecAccess(access, exec, {...plugin, environment, clock})
  const client = connectLive(live, options)
  return {
    ...client,
    async close() {
      live.close()
      await client.close()
    },
  }
}

/** A client that follows its access: server, CA and certificate may change while it is in use. */
export function connectLive(access: Live<ServerAccess>, options: ClientOptions = {}): ApiClient {
  const {retry, onWarning, onServerTime, clock = systemClock} = options
  const {impersonate, namespace} = access.current
  return createApiClient(new RetryingTransport(new UndiciTransport(access, options), retry), {
    impersonate,
    namespace,
    onWarning,
    onServerTime,
    credentialHints: () => credentialProblems(access.current, clock),
  })
}

/** Where the kubelet puts the files of a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The access of a program that runs in a pod, as its service account; undefined outside of one. As client-go finds it. */
async function inClusterAccess(
  environment: Environment,
  folder = SERVICE_ACCOUNT,
): Promise<ServerAccess | undefined> {
  const {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port} = environment
  const token = join(folder, 'token')
  if (!host || !port || !(await lookAt(token))) return undefined
  const ca = await readSmallFile(join(folder, 'ca.crt'), "the service account's CA")
  requireCertificates(ca, 'ca.crt of the service account')
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}/`,
    ca,
    bearerToken: tokenFromFile(token),
    namespace: await namespaceOf(folder),
  }
}

async function namespaceOf(folder: string): Promise<string | undefined> {
  const file = join(folder, 'namespace')
  if (!(await lookAt(file))) return undefined
  return (await readSmallFile(file, "the service account's namespace")).trim() || undefined
}
