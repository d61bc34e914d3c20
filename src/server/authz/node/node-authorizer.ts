import {nodeOf} from '../../kernel/users.ts'
import type {Authorizer} from '../authorizer.ts'
import {bootstrapPolicy} from '../bootstrap-policy/index.ts'
import {CompiledRole} from '../rbac/compiled-role.ts'
import type {NodeGraph} from './node-graph.ts'
import {ALLOWED, passed} from './opinions.ts'
import {RESOURCE_RULES} from './resource-rules.ts'

const ROLE = 'system:node'

/** As Kubernetes' Node authorizer: a node can read what its own pods need, and nothing of other nodes. */
export function nodeAuthorizer(graph: NodeGraph): Authorizer {
  // At a node's first request: reading the policy takes time that a server's start can do without.
  let everythingElse: CompiledRole | undefined
  return (user, attributes) => {
    const node = nodeOf(user)
    if (node === undefined) return passed()
    if (node === '') return passed(`unknown node for user ${JSON.stringify(user.username)}`)
    const {verb, resource} = attributes
    if (resource !== undefined) {
      const rule = RESOURCE_RULES.get(`${resource.group}/${resource.resource}`)
      if (rule !== undefined) return rule({...resource, verb, node, graph})
    }
    everythingElse ??= nodeRules()
    return everythingElse.allows(attributes) ? ALLOWED : passed()
  }
}

/** The rules of ClusterRole `system:node`, as they are built in: what is stored under that name changes no node's rights. */
function nodeRules(): CompiledRole {
  const role = bootstrapPolicy().clusterRoles.find(({metadata}) => metadata.name === ROLE)
  return new CompiledRole(role?.rules ?? [])
}
