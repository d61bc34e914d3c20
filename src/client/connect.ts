import {systemClock, type Clock} from '../runtime.ts'
import {constantly, type Live} from '../trust/live.ts'
import {createApiClient, type ApiClient, type ApiClientOptions} from './api-client.ts'
import {credentialProblems} from './credentials.ts'
import {resolveAccess} from './kubeconfig-access.ts'
import {loadKubeconfig, type LoadOptions} from './kubeconfig-files.ts'
import {parseKubeconfig} from './kubeconfig.ts'
import {RetryingTransport, type RetryOptions} from './retries.ts'
import type {ServerAccess} from './server-access.ts'
import {UndiciTransport, type TransportOptions} from './undici-transport.ts'

/** The path of a kubeconfig, or its content; without either, it is searched for as kubectl does. */
export type KubeconfigSource = string | {content: string} | undefined

export interface ConnectOptions extends ClientOptions, LoadOptions {
  context?: string | undefined
}

export interface ClientOptions extends TransportOptions {
  retry?: RetryOptions | undefined
  onWarning?: ApiClientOptions['onWarning']
  clock?: Clock | undefined
}

/** How long a command waits for each response, unless it is told otherwise. */
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
  const {context} = options
  const access =
    typeof source === 'object'
      ? await resolveAccess(parseKubeconfig(source.content), {context, files: false})
      : await resolveAccess(await loadKubeconfig(source, options), {context})
  return connectTo(access, options)
}

/** A client of a server that is known without a kubeconfig. */
export const connectTo = (access: ServerAccess, options: ClientOptions = {}): ApiClient =>
  connectLive(constantly(access), options)

/** A client that follows its access: server, CA and certificate may change while it is in use. */
export function connectLive(access: Live<ServerAccess>, options: ClientOptions = {}): ApiClient {
  const {retry, onWarning, clock = systemClock} = options
  const {impersonate, namespace} = access.current
  return createApiClient(new RetryingTransport(new UndiciTransport(access, options), retry), {
    impersonate,
    namespace,
    onWarning,
    credentialHints: () => credentialProblems(access.current, clock),
  })
}
