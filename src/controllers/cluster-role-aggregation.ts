import type {ClusterRole, PolicyRule} from '../api/rbac.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

/** The aggregated roles whose rules are not what they should be, with the rules they should have. */
export type Aggregate = (roles: ClusterRole[]) => Map<string, PolicyRule[]>

const ALL = 'all'

/** Fills ClusterRoles that have an aggregationRule with the rules of those it selects. */
function aggregateClusterRoles(
  client: Pick<ApiClient, 'clusterRoles'>,
  aggregate: Aggregate,
): Reconcile {
  return async (_key, signal) => {
    const {items} = await client.clusterRoles.list({signal})
    const versions = new Map(items.map(({metadata}) => [metadata.name, metadata.resourceVersion]))
    for (const [name, rules] of aggregate(items)) {
      try {
        await client.clusterRoles.patch(
          name,
          {metadata: {resourceVersion: versions.get(name)}, rules},
          {type: 'merge', fieldManager: 'clusterrole-aggregation-controller', signal},
        )
      } catch (error) {
        // Changed or deleted in the meantime: that event adds all of them again.
        if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
      }
    }
    return DONE
  }
}

export const clusterRoleAggregationController = (
  reader: ApiClient,
  writer: ApiClient,
  aggregate: Aggregate,
): ControllerSpec => ({
  name: 'clusterrole-aggregation-controller',
  sources: [follow(reader.clusterRoles, () => [ALL])],
  reconcile: aggregateClusterRoles(writer, aggregate),
})
