import type {ApiClient} from '../client/api-client.ts'
import {connectTo} from '../client/connect.ts'
import type {ServerAccess} from '../client/server-access.ts'
import {systemRoots} from '../client/system-roots.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {addressesOf} from '../discovery/confirm.ts'
import {hasCode} from '../errors.ts'
import type {StoredCredential} from './credential-store.ts'

type Credentials = Pick<ServerAccess, 'bearerToken' | 'clientCertificate'>

/** The holder of a bootstrap token. */
export const byToken = (token: string): Credentials => ({
  bearerToken: () => Promise.resolve(token),
})

/** The node itself. */
export const byCertificate = ({
  certificatePem: certificate,
  keyPem: key,
}: Pick<StoredCredential, 'certificatePem' | 'keyPem'>): Credentials => ({
  clientCertificate: {certificate, key},
})

/**
 * Works with the cluster by the first of its addresses that can be reached, its own choice first, and lets go of the connection in
 * the end. `attempt` is one that can be repeated.
 */
export async function withServer<Result>(
  info: TrustedClusterInfo,
  credentials: Credentials,
  attempt: (client: ApiClient, server: string) => Promise<Result>,
): Promise<Result> {
  const ca = info.ca ?? (await systemRoots())
  const [first = info.server, ...others] = addressesOf(info)
  let failure: unknown
  for (const server of [first, ...others]) {
    const access = {server, ca, tlsServerName: info.tlsServerName, ...credentials}
    const client = connectTo(access, {
      oneAtATime: true,
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
