import type {AccessAttributes} from '../../kernel/resource.ts'
import type {Opinion} from '../authorizer.ts'
import type {NodeGraph} from './node-graph.ts'

/** A node's request for a resource. */
export interface NodeRequest extends NonNullable<AccessAttributes['resource']> {
  verb: string
  node: string
  graph: NodeGraph
}

export type NodeRule = (request: NodeRequest) => Opinion

export const ALLOWED: Opinion = {decision: 'allow', reason: ''}

/** The Node authorizer never denies: RBAC may still allow. */
export const passed = (reason = ''): Opinion => ({decision: 'noOpinion', reason})

/** Whether a path leads from the object to the node. */
export function related({graph, node, resource, namespace, name}: NodeRequest): Opinion {
  if (name === '') return passed('No Object name found')
  return graph.leadsTo(node, resource, namespace, name)
    ? ALLOWED
    : passed(`no relationship found between node '${node}' and this object`)
}

export const relatedGet: NodeRule = (request) => {
  if (request.verb !== 'get') return passed('can only get individual resources of this type')
  return request.subresource === '' ? related(request) : passed('cannot get subresource')
}
