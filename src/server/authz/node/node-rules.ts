import {bootstrapPolicy} from '../bootstrap-policy/index.ts'
import {CompiledRole} from '../rbac/compiled-role.ts'

const ROLE = 'system:node'

/** The rules of ClusterRole `system:node`, as they are built in: what is stored under that name changes no node's rights. */
export function nodeRules(): CompiledRole {
  const role = bootstrapPolicy().clusterRoles.find(({metadata}) => metadata.name === ROLE)
  return new CompiledRole(role?.rules ?? [])
}
