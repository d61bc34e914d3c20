import type {ApiClient} from '../client/api-client.ts'
import {parseDuration} from '../bootstrap/durations.ts'
import {connectTo, findAccess, waitingAtMost, type ClientOptions} from '../client/connect.ts'
import type {ServerAccess} from '../client/server-access.ts'
import {findKubeconfig, type ClusterFlagValues} from './cluster.ts'

export interface Cluster {
  client: ApiClient
  /** Its address and its CA. */
  access: ServerAccess
}

/** The longest time of a timer, half of it for a request and the whole for its connection: weeks. */
const NO_LIMIT = 2 ** 30 - 1

/** As kubectl's flag: 0 sets no limit. */
export function limitOf({'request-timeout': text}: ClusterFlagValues): number | undefined {
  if (text === undefined) return undefined
  const timeout = parseDuration(text, '--request-timeout')
  return timeout === 0 ? NO_LIMIT : Math.min(timeout, NO_LIMIT)
}

/** Works with the cluster that the flags name, and closes its connections in the end. */
export async function withCluster<Result>(
  flags: ClusterFlagValues,
  work: (cluster: Cluster) => Promise<Result>,
  options: ClientOptions = {},
): Promise<Result> {
  const {context, cluster, user} = flags
  const limit = limitOf(flags)
  const access = await findAccess(await findKubeconfig(flags), {context, cluster, user})
  const client = connectTo(access, {...waitingAtMost(limit), ...options})
  try {
    return await work({client, access})
  } finally {
    await client.close()
  }
}
