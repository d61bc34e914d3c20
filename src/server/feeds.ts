import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ConfigMap} from '../api/core.ts'
import {TOKEN_SECRET_NAMESPACE, TOKEN_SECRET_PREFIX} from '../bootstrap/token-secret.ts'
import {
  readRevocations,
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
  type RevocationList,
} from '../trust/revocations.ts'
import type {RequestUsage} from './admission/request-usage.ts'
import type {NodeGraph} from './authz/node/node-graph.ts'
import type {RbacIndex, RbacKind} from './authz/rbac/rbac-index.ts'
import type {CertificateRequestMetrics, TokenMetrics} from './metrics/object-metrics.ts'
import type {OpenAnswers} from './open-answers.ts'
import type {ObjectEvent} from './registry/event-log.ts'
import type {Registry} from './registry/registry.ts'
import type {ResourceStore} from './registry/resource-store.ts'
import {parse, type StoredObject} from './registry/stored-object.ts'

const RBAC = 'rbac.authorization.k8s.io'
const POLICY: [string, RbacKind][] = [
  ['clusterroles', 'ClusterRole'],
  ['clusterrolebindings', 'ClusterRoleBinding'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
]
/** The objects that tokens are made of or bound to. */
const BEHIND_TOKENS = ['secrets', 'serviceaccounts', 'pods', 'nodes']

/** Passes on what is stored now, then every change, commit by commit. */
function follow(
  store: ResourceStore | undefined,
  upsert: (stored: StoredObject) => void,
  remove: (stored: StoredObject) => void,
): void {
  for (const stored of store?.range('') ?? []) upsert(stored)
  store?.onEvents((events) => {
    for (const {current, previous} of events) {
      if (current !== undefined) upsert(current)
      else if (previous !== undefined) remove(previous)
    }
  })
}

/** Updates the RBAC index from the stored roles and bindings. */
export function feedRbacIndex(registry: Registry, index: RbacIndex): void {
  for (const [plural, kind] of POLICY) {
    follow(
      registry.store(RBAC, plural),
      (stored) => index.upsert(kind, parse(stored)),
      ({namespace, name}) => index.remove(kind, namespace, name),
    )
  }
}

/** Updates the graph from the stored pods and volumes. */
export function feedNodeGraph(registry: Registry, graph: NodeGraph): void {
  follow(
    registry.store('', 'pods'),
    (stored) => graph.upsertPod(parse(stored)),
    ({namespace, name}) => graph.removePod(namespace, name),
  )
  follow(
    registry.store('', 'persistentvolumes'),
    (stored) => graph.upsertVolume(parse(stored)),
    ({name}) => graph.removeVolume(name),
  )
}

/** Updates the counts of certificate requests from what is stored. */
export function feedRequestCounts(
  registry: Registry,
  usage: RequestUsage,
  metrics: CertificateRequestMetrics,
): void {
  follow(
    registry.store('certificates.k8s.io', 'certificatesigningrequests'),
    (stored) => {
      const request = stored.object as CertificateSigningRequest
      usage.set(stored.name, request, stored.json.length)
      metrics.set(stored.name, request)
    },
    ({name}) => {
      usage.delete(name)
      metrics.delete(name)
    },
  )
}

/** Updates the counts of bootstrap tokens from their Secrets. */
export function feedTokenMetrics(registry: Registry, metrics: TokenMetrics): void {
  const isToken = ({namespace, name}: StoredObject) =>
    namespace === TOKEN_SECRET_NAMESPACE && name.startsWith(TOKEN_SECRET_PREFIX)
  follow(
    registry.store('', 'secrets'),
    (stored) => {
      if (isToken(stored)) metrics.set(stored.name, parse(stored))
    },
    (stored) => {
      if (isToken(stored)) metrics.delete(stored.name)
    },
  )
}

/** Reports every Node that is deleted. */
export function feedDeletedNodes(registry: Registry, onDeleted: (name: string) => void): void {
  registry.store('', 'nodes')?.onEvents((events) => {
    for (const {current, previous} of events)
      if (current === undefined && previous !== undefined) onDeleted(previous.name)
  })
}

const REVOCATIONS = new Set(REVOCATION_NAMES)

/** Updates the list of revoked certificates from its ConfigMaps; `onRevoked` is called if a certificate is revoked. */
export function feedRevocations(
  registry: Registry,
  list: RevocationList,
  onRevoked: () => void,
): void {
  const isOfList = ({namespace, name}: StoredObject) =>
    namespace === REVOCATION_NAMESPACE && REVOCATIONS.has(name)
  follow(
    registry.store('', 'configmaps'),
    (stored) => {
      if (!isOfList(stored)) return
      const {data} = parse(stored) as ConfigMap
      if (list.set(stored.name, readRevocations(data))) onRevoked()
    },
    (stored) => {
      if (isOfList(stored)) list.delete(stored.name)
    },
  )
}

/** Reports every stored change that may revoke a right or a token to the open responses. */
export function feedOpenAnswers(registry: Registry, answers: OpenAnswers): void {
  for (const [plural] of POLICY) {
    registry.store(RBAC, plural)?.onEvents(() => answers.changed('all'))
  }
  for (const plural of BEHIND_TOKENS) {
    registry.store('', plural)?.onEvents((events) => {
      if (events.some(endsTokens)) answers.changed('bearers')
    })
  }
}

function endsTokens({current, previous}: ObjectEvent): boolean {
  if (previous === undefined) return false
  if (current === undefined || current.name.startsWith(TOKEN_SECRET_PREFIX)) return true
  return current.json.includes('"deletionTimestamp"')
}
