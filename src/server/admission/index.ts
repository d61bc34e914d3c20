import type {Namespace} from '../../api/core.ts'
import type {Node} from '../../api/node.ts'
import {OWN_NAMESPACE} from '../../trust/own-namespace.ts'
import type {RbacIndex} from '../authz/rbac/rbac-index.ts'
import {
  type Admission,
  type AdmissionOperation,
  type AdmissionPlugin,
  chainPlugins,
  denied,
  isResource,
} from '../kernel/admission.ts'
import {forbidden, notFound, tooManyRequests} from '../kernel/status.ts'
import {nodeOf} from '../kernel/users.ts'
import {TokenBuckets} from '../limits/token-buckets.ts'
import {
  type BelievesSigner,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './certificates.ts'
import type {NodeWriteRule} from './node-restriction/node-write.ts'
import {nodes} from './node-restriction/nodes.ts'
import {certificateRequests, claims, csiNodes, leases} from './node-restriction/own-objects.ts'
import {pods} from './node-restriction/pods.ts'
import {serviceAccounts} from './node-restriction/tokens.ts'
import {podSecurityWarning} from './pod-security.ts'
import {rbacEscalation} from './rbac-escalation.ts'
import {serviceAccountAdmission} from './service-account.ts'

const IMMORTAL = new Set(['default', 'kube-public', 'kube-system', OWN_NAMESPACE])
const NAMESPACES = {group: '', plural: 'namespaces'}

/** Nothing can be created in a namespace that is missing or being deleted; four namespaces cannot be deleted. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  admit(operation, {namespace, objects}) {
    const {verb, subresource, name} = operation
    if (isResource(operation, '', 'namespaces')) {
      if (verb === 'delete' && subresource === '' && IMMORTAL.has(name)) {
        throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
      }
      return
    }
    if (namespace === '' || verb === 'delete' || verb === 'connect') return
    // A review may name a namespace that does not exist.
    if (isResource(operation, 'authorization.k8s.io', 'localsubjectaccessreviews')) return

    const home = objects.get('namespaces', '', '', namespace) as Namespace | undefined
    if (home === undefined) throw notFound(NAMESPACES, namespace)
    if (verb !== 'create' || home.status?.phase !== 'Terminating') return
    const refusal = denied(
      operation,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    )
    refusal.status.details = {
      ...refusal.status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    }
    throw refusal
  },
}

/** The two classes that every cluster has; no others are served here. */
const CLASSES = new Map([
  ['', 0],
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
])
const PREEMPTION = 'PreemptLowerPriority'

interface Prioritized {
  priorityClassName?: string
  priority?: number
  preemptionPolicy?: string
}

/** A pod's priority comes from its class: it cannot be set as a number. As Kubernetes' admission Priority. */
export const priorityAdmission: AdmissionPlugin = {
  name: 'Priority',
  admit(operation) {
    const {verb, subresource, object} = operation
    if (verb !== 'create' || subresource !== '' || object === undefined) return
    if (!isResource(operation, '', 'pods')) return
    const pod = object as {spec?: Prioritized}
    const spec = (pod.spec ??= {})
    const {priorityClassName = ''} = spec
    const priority = CLASSES.get(priorityClassName)
    if (priority === undefined) {
      throw denied(operation, `no PriorityClass with name ${priorityClassName} was found`)
    }
    requireComputed(operation, 'integer value of priority', spec.priority, priority)
    requireComputed(
      operation,
      'string value of PreemptionPolicy',
      spec.preemptionPolicy,
      PREEMPTION,
    )
    spec.priority = priority
    spec.preemptionPolicy = PREEMPTION
  },
}

function requireComputed<T extends number | string>(
  operation: AdmissionOperation,
  what: string,
  given: T | undefined,
  computed: T,
): void {
  if (given === undefined || given === computed) return
  const why = `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`
  throw denied(operation, why)
}

const NOT_READY = {key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule'}

/** A new node takes no pods until it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit(operation) {
    const {verb, subresource, object} = operation
    if (verb !== 'create' || subresource !== '' || object === undefined) return
    if (!isResource(operation, '', 'nodes')) return
    const node = object as Node
    const taints = node.spec?.taints ?? []
    const isThere = taints.some(
      ({key, effect}) => key === NOT_READY.key && effect === NOT_READY.effect,
    )
    if (!isThere) node.spec = {...node.spec, taints: [...taints, {...NOT_READY}]}
  },
}

/** By `group/plural`. */
const NODE_RULES: ReadonlyMap<string, NodeWriteRule> = new Map([
  ['/pods', pods],
  ['/nodes', nodes],
  ['/persistentvolumeclaims', claims],
  ['/serviceaccounts', serviceAccounts],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
  ['certificates.k8s.io/certificatesigningrequests', certificateRequests],
])

/** As Kubernetes' NodeRestriction: whatever its rights allow, a node writes only its own objects. */
export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  admit(operation, context) {
    const {user} = context
    const node = nodeOf(user)
    if (node === undefined) return
    if (node === '') {
      throw denied(operation, `could not determine node from user ${JSON.stringify(user.username)}`)
    }
    NODE_RULES.get(`${operation.resource.group}/${operation.resource.plural}`)?.({
      node,
      operation,
      context,
    })
  },
}

/** A kubelet sends at most 100 Events at once, and five or six for each of its pods when it starts. It tries again later. */
const RATE = {perSecond: 1, burst: 500, keys: 10_000}

/** A node cannot push out the Events of others with a flood. Kubernetes has a similar plugin, which is off by default. */
export function eventRateLimit(rate = RATE): AdmissionPlugin {
  const buckets = new TokenBuckets(rate)
  return {
    name: 'EventRateLimit',
    admit(operation, {user, clock}) {
      if (!isResource(operation, '', 'events') || operation.verb === 'delete') return
      if (!user.groups?.includes('system:nodes')) return
      const seconds = buckets.spend(user.username, clock.now())
      if (seconds > 0)
        throw tooManyRequests(seconds, 'this node writes too many events; try again later')
    },
  }
}

/** The plugins that are always on, then those given. */
export const createAdmission = (
  index: RbacIndex,
  further: readonly AdmissionPlugin[] = [],
  believes?: BelievesSigner,
): Admission =>
  chainPlugins([
    namespaceLifecycle,
    serviceAccountAdmission,
    nodeRestriction,
    taintNodesByCondition,
    priorityAdmission,
    podSecurityWarning,
    rbacEscalation(index),
    certificateApproval,
    certificateSigning,
    certificateSubjectRestriction(believes),
    ...further,
  ])
