import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  KUBECONFIG_KEY,
} from '../../bootstrap/cluster-info.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'

/** Whether machines find the cluster by a token. If the caller may not look, nobody can say that they do not. */
export async function isClusterInfoPublished({
  configMaps,
}: Pick<ApiClient, 'configMaps'>): Promise<boolean> {
  try {
    const found = await configMaps.find({
      namespace: CLUSTER_INFO_NAMESPACE,
      name: CLUSTER_INFO_NAME,
    })
    return found?.data?.[KUBECONFIG_KEY] !== undefined
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return true
    throw error
  }
}
