import type {ApiClient} from '../client/api-client.ts'
import {connectTo} from '../client/connect.ts'
import type {ServerAccess} from '../client/server-access.ts'
import {systemRoots} from '../client/system-roots.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {addressesOf} from '../discovery/confirm.ts'
import {TrustError, hasCode} from '../errors.ts'

/** Work that can be repeated at another address of the cluster. */
type Attempt<Result> = (client: ApiClient, server: string) => Promise<Result>

export interface Identity {
  certificatePem: string
  keyPem: string
}

/** Connects as the holder of a bootstrap token. */
export async function withToken<Result>(
  info: TrustedClusterInfo,
  token: string,
  attempt: Attempt<Result>,
): Promise<Result> {
  try {
    return await withServer(info, {bearerToken: () => Promise.resolve(token)}, attempt)
  } catch (error) {
    throw explainRefusal(error)
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

/** What a refusal means for the holder of a bootstrap token. */
function explainRefusal(error: unknown): unknown {
  if (!hasCode(error, 'UNAUTHORIZED', 'FORBIDDEN')) return error
  const details = {cause: error, facts: error.facts}
  if (error.code === 'UNAUTHORIZED') {
    return new TrustError('UNAUTHORIZED', 'the cluster does not accept the token', {
      ...details,
      hints: [
        'it does not exist, has expired, or is not for authentication: check with "trustadm token list" on the control plane',
        'to create a new one, run "trustadm token create --print-join-command" there',
      ],
    })
  }
  return new TrustError('FORBIDDEN', `the token does not allow this: ${error.message}`, {
    ...details,
    hints: [
      'its groups need the role system:node-bootstrapper, which "trustadm init phase bootstrap-token" gives to the default group',
      'to create a token with that group, run "trustadm token create --print-join-command" on the control plane',
    ],
  })
}
