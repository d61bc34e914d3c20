import type {SubjectRulesReviewStatus} from '../../../api/authorization.ts'
import type {UserInfo} from '../../../api/meta.ts'
import type {AccessAttributes} from '../../kernel/resource.ts'
import {nodeOf} from '../../kernel/users.ts'
import {hasFieldTerm} from '../../selectors/field-selector.ts'
import type {Authorizer, Opinion} from '../authorizer.ts'
import {bootstrapPolicy} from '../bootstrap-policy/index.ts'
import {CompiledRole} from '../rbac/compiled-role.ts'
import type {NodeGraph} from './node-graph.ts'

/** A node's request for a resource. */
interface NodeRequest extends NonNullable<AccessAttributes['resource']> {
  verb: string
  node: string
  graph: NodeGraph
}

type NodeRule = (request: NodeRequest) => Opinion

const ALLOWED: Opinion = {decision: 'allow', reason: ''}

/** The Node authorizer never denies: RBAC may still allow. */
const passed = (reason = ''): Opinion => ({decision: 'noOpinion', reason})

/** Whether a path leads from the object to the node. */
function related({graph, node, resource, namespace, name}: NodeRequest): Opinion {
  if (name === '') return passed('No Object name found')
  return graph.leadsTo(node, resource, namespace, name)
    ? ALLOWED
    : passed(`no relationship found between node '${node}' and this object`)
}

const relatedGet: NodeRule = (request) => {
  if (request.verb !== 'get') return passed('can only get individual resources of this type')
  return request.subresource === '' ? related(request) : passed('cannot get subresource')
}

const LEASE_NAMESPACE = 'kube-node-lease'
const OWN_OBJECT_VERBS = ['get', 'create', 'update', 'patch', 'delete']

const readNamespaced: NodeRule = (request) => {
  if (!['get', 'list', 'watch'].includes(request.verb))
    return passed('can only read resources of this type')
  if (request.subresource !== '') return passed('cannot read subresource')
  if (request.namespace === '') return passed('can only read namespaced object of this type')
  return related(request)
}

const claims: NodeRule = (request) => {
  if (request.subresource !== 'status') return relatedGet(request)
  return ['update', 'patch'].includes(request.verb)
    ? related(request)
    : passed('can only get/update/patch this type')
}

const serviceAccounts: NodeRule = (request) => {
  const {verb, subresource, name} = request
  if (verb === 'get' && subresource === '') return relatedGet(request)
  if (verb !== 'create' || name === '')
    return passed('can only create tokens for individual service accounts')
  return subresource === 'token'
    ? related(request)
    : passed('can only create token subresource of service account')
}

const leases: NodeRule = ({verb, namespace, name, node}) => {
  if (!OWN_OBJECT_VERBS.includes(verb))
    return passed('can only get, create, update, patch, or delete a node lease')
  if (namespace !== LEASE_NAMESPACE)
    return passed(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`)
  // Admission checks the name of a new object.
  return verb === 'create' || name === node
    ? ALLOWED
    : passed('can only access node lease with the same name as the requesting node')
}

const csiNodes: NodeRule = ({verb, subresource, name, node}) => {
  if (!OWN_OBJECT_VERBS.includes(verb))
    return passed('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return passed('cannot authorize CSINode subresources')
  return verb === 'create' || name === node
    ? ALLOWED
    : passed('can only access CSINode with the same name as the requesting node')
}

const selectsOwn = ({fieldSelector = '', node}: NodeRequest) =>
  hasFieldTerm(fieldSelector, 'spec.nodeName', node)

const resourceSlices: NodeRule = (request) => {
  if (request.subresource !== '') return passed('cannot authorize ResourceSlice subresources')
  switch (request.verb) {
    case 'create':
      return ALLOWED
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(request)
    case 'list':
    case 'watch':
    case 'deletecollection':
      return selectsOwn(request)
        ? ALLOWED
        : passed(
            'can only list/watch/deletecollection resourceslices with spec.nodeName field selector',
          )
    default:
      return passed(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      )
  }
}

/** Admission checks which node is written. For reads the name is compared, because the object may not exist yet. */
const nodes: NodeRule = ({verb, subresource, name, node}) => {
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? ALLOWED : passed()
  if (subresource !== '') return passed()
  if (['create', 'update', 'patch'].includes(verb)) return ALLOWED
  if (!['get', 'list', 'watch'].includes(verb)) return passed()
  if (name === node) return ALLOWED
  return passed(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  )
}

const pods: NodeRule = (request) => {
  const {verb, subresource, name} = request
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? ALLOWED : passed()
  if (subresource === 'eviction') return verb === 'create' ? ALLOWED : passed()
  if (subresource !== '') return passed()
  switch (verb) {
    case 'get':
      return relatedGet(request)
    case 'list':
    case 'watch':
      if (selectsOwn(request)) return ALLOWED
      return name === ''
        ? passed('can only list/watch pods with spec.nodeName field selector')
        : related(request)
    case 'create':
    case 'delete':
      return ALLOWED
    default:
      return passed()
  }
}

/** The resources that nodes share, by `group/plural`: each node gets only its own part of them. */
const RESOURCE_RULES: ReadonlyMap<string, NodeRule> = new Map([
  ['/secrets', readNamespaced],
  ['/configmaps', readNamespaced],
  ['/persistentvolumeclaims', claims],
  ['/persistentvolumes', relatedGet],
  ['/serviceaccounts', serviceAccounts],
  ['/nodes', nodes],
  ['/pods', pods],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
  ['storage.k8s.io/volumeattachments', relatedGet],
  ['resource.k8s.io/resourceclaims', relatedGet],
  ['resource.k8s.io/resourceslices', resourceSlices],
])

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

const WHY = 'node authorizer does not support user rule resolution'

/** What a node may do depends on its pods, which a list of rules cannot express: the list is marked as incomplete. */
export function rulesOfNodes(
  user: UserInfo,
  rules: SubjectRulesReviewStatus,
): SubjectRulesReviewStatus {
  if (nodeOf(user) === undefined) return rules
  const {evaluationError} = rules
  return {
    ...rules,
    incomplete: true,
    evaluationError: evaluationError === undefined ? WHY : `[${WHY}, ${evaluationError}]`,
  }
}
