import type {ApiClient} from '../client/api-client.ts'
import {connectTo} from '../client/connect.ts'
import type {ServerAccess} from '../client/server-access.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import {systemRoots} from '../client/system-roots.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {addressesOf} from '../discovery/refresh.ts'
import {hasCode} from '../errors.ts'
import type {BootstrapCredential} from './bootstrap-credential.ts'

/** Work that can be repeated at another address of the cluster. */
type Attempt<Result> = (client: ApiClient, server: string) => Promise<Result>

export interface Identity {
  certificatePem: string
  keyPem: string
}

/** Connects with what a machine has before its own certificate. Nobody uses shared connections after that: they are closed. */
export async function withCredential<Result>(
  info: TrustedClusterInfo,
  {access, explain}: BootstrapCredential,
  attempt: Attempt<Result>,
  shared?: SharedConnections,
): Promise<Result> {
  try {
    return await withServer(info, access, attempt, shared)
  } catch (error) {
    throw explain(error)
  } finally {
    await shared?.close()
  }
}

/** Connects as the node itself. */
export async function withCertificate<Result>(
  info: TrustedClusterInfo,
  {certificatePem: certificate, keyPem: key}: Identity,
  attempt: Attempt<Result>,
): Promise<Result> {
  return await withServer(info, {clientCertificate: {certificate, key}}, attempt)
}

/** Tries the cluster's addresses in order until one can be reached, and closes the connection afterwards. */
async function withServer<Result>(
  info: TrustedClusterInfo,
  credentials: Pick<ServerAccess, 'bearerToken' | 'clientCertificate'>,
  attempt: Attempt<Result>,
  shared?: SharedConnections,
): Promise<Result> {
  const ca = info.ca ?? (await systemRoots())
  const [first = info.server, ...others] = addressesOf(info)
  let failure: unknown
  for (const server of [first, ...others]) {
    const access = {server, ca, tlsServerName: info.tlsServerName, ...credentials}
    const client = connectTo(access, {
      oneAtATime: true,
      shared,
      ...(others.length > 0 && {retry: {attempts: 2}}),
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
