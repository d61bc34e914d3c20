import {systemClock, type Clock} from '../runtime.ts'
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
export function connectTo(access: ServerAccess, options: ClientOptions = {}): ApiClient {
  const {retry, onWarning, clock = systemClock} = options
  return createApiClient(new RetryingTransport(new UndiciTransport(access, options), retry), {
    impersonate: access.impersonate,
    namespace: access.namespace,
    onWarning,
    credentialHints: () => credentialProblems(access, clock),
  })
}
