import {isToken} from '../bootstrap/token.ts'
import type {ApiClient} from '../client/api-client.ts'
import {type ClientOptions, connectTo} from '../client/connect.ts'
import {isTemporary, type Patience, withRetry} from '../client/patience.ts'
import type {ServerAccess} from '../client/server-access.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import {systemRoots} from '../client/system-roots.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {addressesOf} from '../discovery/refresh.ts'
import {hasCode} from '../errors.ts'
import type {BootstrapCredential} from './bootstrap-credential.ts'

/** Work that can be repeated, also at another address of the cluster. The signal ends it with the time of the command. */
type Attempt<Result> = (
  client: ApiClient,
  server: string,
  signal?: AbortSignal,
  answered?: () => void,
) => Promise<Result>

interface AccessOptions {
  shared?: SharedConnections | undefined
  /** For a command that waits for the cluster: each wait is shown. Without it, a request is repeated a few times. */
  patience?: Patience | undefined
}

export interface Identity {
  certificatePem: string
  keyPem: string
}

/** Connects with what a machine has before its own certificate. Nobody uses shared connections after that: they are closed. */
export async function withCredential<Result>(
  info: TrustedClusterInfo,
  credential: BootstrapCredential,
  attempt: Attempt<Result>,
  {shared, patience}: AccessOptions = {},
): Promise<Result> {
  const {access, explain} = credential
  const mayComeYet = patience && (await isUnknownYet(info, credential))
  const explained: Attempt<Result> = (client, server, ...call) =>
    attempt(client, server, ...call).catch((error: unknown) => {
      throw explain(error)
    })
  const isPassing = (error: unknown) =>
    isTemporary(error) ||
    // One that was accepted when it made a request has ended since.
    (mayComeYet === true &&
      hasCode(error, 'UNAUTHORIZED', 'FORBIDDEN') &&
      error.facts.request === undefined)
  try {
    return await withServer(info, access, explained, {shared, patience, isPassing})
  } finally {
    await shared?.close()
  }
}

/**
 * Whether an init that has not finished may be why the cluster refuses a credential: it creates the rights of new machines before
 * it shows cluster-info, and its token after that.
 */
async function isUnknownYet(
  {signers}: TrustedClusterInfo,
  {access}: BootstrapCredential,
): Promise<boolean> {
  if (!signers) return false
  if (signers === 'hidden') return true
  const token = (await access.bearerToken?.()) ?? ''
  return isToken(token) && !signers.includes(token.slice(0, token.indexOf('.')))
}

/** Connects as the node itself. */
export async function withCertificate<Result>(
  info: TrustedClusterInfo,
  {certificatePem: certificate, keyPem: key}: Identity,
  attempt: Attempt<Result>,
  options: AccessOptions = {},
): Promise<Result> {
  return await withServer(info, {clientCertificate: {certificate, key}}, attempt, options)
}

type Credentials = Pick<ServerAccess, 'bearerToken' | 'clientCertificate'>

async function withServer<Result>(
  info: TrustedClusterInfo,
  credentials: Credentials,
  attempt: Attempt<Result>,
  {
    shared,
    patience,
    isPassing,
  }: AccessOptions & {isPassing?: ((error: unknown) => boolean) | undefined},
): Promise<Result> {
  if (!patience) return await atAnyAddress(info, credentials, attempt, {shared})
  return await withRetry(
    info.server,
    (...call) =>
      atAnyAddress(
        info,
        credentials,
        (client, server) => attempt(client, server, ...call),
        // Repeated here instead, where each wait is shown.
        {shared, retry: {attempts: 1}},
      ),
    patience,
    isPassing,
  )
}

/** Tries the cluster's addresses in order until one can be reached, and closes the connection afterwards. */
async function atAnyAddress<Result>(
  info: TrustedClusterInfo,
  credentials: Credentials,
  attempt: Attempt<Result>,
  {shared, retry}: Pick<ClientOptions, 'shared' | 'retry'>,
): Promise<Result> {
  const ca = info.ca ?? (await systemRoots())
  const [first = info.server, ...others] = addressesOf(info)
  let failure: unknown
  for (const server of [first, ...others]) {
    const access = {server, ca, tlsServerName: info.tlsServerName, ...credentials}
    const client = connectTo(access, {
      oneAtATime: true,
      shared,
      retry: retry ?? (others.length > 0 ? {attempts: 2} : undefined),
    })
    try {
      return await attempt(client, server)
    } catch (error) {
      failure ??= error
      if (!hasCode(error, 'SERVER_UNREACHABLE')) throw error
    } finally {
      await client.close()
    }
  }
  throw failure
}
