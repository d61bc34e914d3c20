import type {Authorizer} from '../authorizer.ts'
import type {NodeGraph} from './node-graph.ts'
import {nodeOf} from './node-identity.ts'
import {nodeRules} from './node-rules.ts'
import {ALLOWED, passed} from './opinions.ts'
import {RESOURCE_RULES} from './resource-rules.ts'

/** As Kubernetes' Node authorizer: a node gets at what its own pods need, and at nothing of other nodes. */
export function nodeAuthorizer(graph: NodeGraph): Authorizer {
  const everythingElse = nodeRules()
  return (user, attributes) => {
    const node = nodeOf(user)
    if (node === undefined) return passed()
    if (node === '') return passed(`unknown node for user ${JSON.stringify(user.username)}`)
    const {verb, resource} = attributes
    if (resource !== undefined) {
      const rule = RESOURCE_RULES.get(`${resource.group}/${resource.resource}`)
      if (rule !== undefined) return rule({...resource, verb, node, graph})
    }
    return everythingElse.allows(attributes) ? ALLOWED : passed()
  }
}
