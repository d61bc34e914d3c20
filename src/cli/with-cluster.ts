import type {ApiClient} from '../client/api-client.ts'
import {connectTo} from '../client/connect.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {loadKubeconfig} from '../client/kubeconfig-files.ts'
import type {ServerAccess} from '../client/server-access.ts'
import {findKubeconfig, type ClusterFlagValues} from './cluster.ts'

export interface Cluster {
  client: ApiClient
  /** Its address and its CA. */
  access: ServerAccess
}

/** Works with the cluster that the flags name, and closes its connections in the end. */
export async function withCluster<Result>(
  flags: ClusterFlagValues,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const access = await resolveAccess(await loadKubeconfig(await findKubeconfig(flags)))
  const client = connectTo(access)
  try {
    return await work({client, access})
  } finally {
    await client.close()
  }
}
