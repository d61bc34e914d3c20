import {hasFieldTerm} from '../../selectors/field-selector.ts'
import {ALLOWED, passed, related, relatedGet, type NodeRequest, type NodeRule} from './opinions.ts'

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
export const RESOURCE_RULES: ReadonlyMap<string, NodeRule> = new Map([
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
