import type {Binding} from '../../api/core.ts'
import type {ApiObject, Received} from '../../api/meta.ts'
import type {Container, Pod, PodCondition, PodSpec, RuntimeClass} from '../../api/pod.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  notSupported,
  required,
} from '../kernel/field-error.ts'
import {type OperationContext, type Strategy, type Subresource} from '../kernel/resource.ts'
import {badRequest, conflict, StatusError} from '../kernel/status.ts'
import {validateBySchema} from '../validation/by-schema.ts'
import {dnsLabel, dnsSubdomain} from '../validation/names.ts'
import {type Check, checkWith, immutableField, semanticallyEqual} from '../validation/values.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  NAME,
  restore,
  statusSubresource,
} from './define.ts'
import {podColumns} from './pod-columns.ts'
import {addTolerations, defaultPod, mirrorServiceAccount, qosClassOf} from './pod-defaults.ts'
import {formatTimestamp} from '../../runtime.ts'

const RESOURCE = {group: '', plural: 'pods/binding'}

const scheduledCondition = (
  {clock}: OperationContext,
  more: Pick<PodCondition, 'status' | 'reason' | 'message'>,
): PodCondition => ({
  type: 'PodScheduled',
  ...more,
  lastProbeTime: null,
  lastTransitionTime: formatTimestamp(clock.now()),
})

function bindingProblem({target = {}}: Received<Binding>): string | undefined {
  const {kind = '', name = ''} = target
  const problems = [
    ...(['', 'Node'].includes(kind)
      ? []
      : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ].map(({field, message}) => `${field}: ${message}`)
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]
}

/** Puts a pod on a node; a scheduler does that once. */
function bind(binding: Received<Binding>, pod: Pod, context: OperationContext): ApiObject {
  const {name} = context
  if ((binding.metadata.name ?? '') !== name) {
    throw badRequest('name in URL does not match name in Binding object')
  }
  // Kubernetes returns these errors as they are, not as an Invalid status.
  const problem = bindingProblem(binding)
  if (problem !== undefined) throw new StatusError(500, undefined, problem)
  const spec = (pod.spec ??= {})
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(RESOURCE, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if (spec.nodeName) {
    const why = `pod ${name} is already assigned to node "${spec.nodeName}"`
    throw conflict(RESOURCE, name, why)
  }
  if (spec.schedulingGates?.length) {
    throw conflict(RESOURCE, name, `pod ${name} has non-empty .spec.schedulingGates`)
  }
  spec.nodeName = binding.target?.name ?? ''
  if (binding.metadata.annotations) {
    pod.metadata.annotations = {...pod.metadata.annotations, ...binding.metadata.annotations}
  }
  const others = pod.status?.conditions?.filter(({type}) => type !== 'PodScheduled') ?? []
  const scheduled = scheduledCondition(context, {status: 'True'})
  pod.status = {...pod.status, conditions: [...others, scheduled]}
  return {kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201}
}

const bindingSubresource: Subresource<Pod> = {
  verbs: ['create'],
  kind: {group: '', version: 'v1', kind: 'Binding', type: 'core/v1.Binding'},
  create: bind,
  stores: true,
}

const DEFAULT_GRACE_SECONDS = 30

const GATED = {
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
}

/** A kubelet makes paths of these names. */
function validateNames(items: {name?: string}[], path: string, seen: Set<string>): FieldError[] {
  return items.flatMap(({name = ''}, index) => {
    if (name === '') return []
    const field = `${path}[${index}].name`
    const errors = checkWith(dnsLabel, field, name)
    if (seen.has(name)) errors.push(duplicate(field, name))
    seen.add(name)
    return errors
  })
}

/** Names of other objects, and those that a pod is known by. */
const NAME_RULES: [field: keyof PodSpec, rule: Check][] = [
  ['serviceAccountName', dnsSubdomain],
  ['nodeName', dnsSubdomain],
  ['hostname', dnsLabel],
  ['subdomain', dnsLabel],
  ['runtimeClassName', dnsSubdomain],
]

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'] as const

function validate(pod: Pod): FieldError[] {
  const {spec = {}} = pod
  const containers = new Set<string>()
  return [
    ...validateBySchema('core/v1.Pod', pod),
    ...validateNames(spec.volumes ?? [], 'spec.volumes', new Set()),
    ...CONTAINERS.flatMap((list) => validateNames(spec[list] ?? [], `spec.${list}`, containers)),
    ...NAME_RULES.flatMap(([field, rule]) => {
      const name = spec[field]
      return typeof name === 'string' && name !== '' ? checkWith(rule, `spec.${field}`, name) : []
    }),
  ]
}

const CHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const withoutImage = ({image: _, ...container}: Container) => container

/** The parts of a spec that cannot change. */
function fixedPart(spec: PodSpec) {
  const {activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest} = spec
  return {
    ...rest,
    containers: spec.containers?.map(withoutImage),
    initContainers: spec.initContainers?.map(withoutImage),
    terminationGracePeriodSeconds: Math.max(spec.terminationGracePeriodSeconds ?? 0, 1),
  }
}

/**
 * Whoever may change a pod, but not create one, gives it no other account, node, volume or right. As Kubernetes'
 * ValidatePodUpdate.
 */
function validateUpdate({spec = {}}: Pod, {spec: old = {}}: Pod): FieldError[] {
  const counts = (['containers', 'initContainers'] as const).filter(
    (field) => (spec[field]?.length ?? 0) !== (old[field]?.length ?? 0),
  )
  if (counts.length > 0) {
    return counts.map((field) =>
      forbiddenField(`spec.${field}`, 'pod updates may not add or remove containers'),
    )
  }
  return semanticallyEqual(fixedPart(spec), fixedPart(old))
    ? []
    : [forbiddenField('spec', CHANGEABLE)]
}

const strategy: Strategy<Pod> = {
  defaults: defaultPod,
  prepareForCreate: (pod, context) => {
    const spec = (pod.spec ??= {})
    mirrorServiceAccount(spec)
    addTolerations(spec)
    pod.status = {
      phase: 'Pending',
      ...(spec.schedulingGates?.length ? {conditions: [scheduledCondition(context, GATED)]} : {}),
      qosClass: qosClassOf(spec),
    }
  },
  validate,
  prepareForUpdate: (pod, old) => {
    keepStatus(pod, old)
    addTolerations((pod.spec ??= {}))
  },
  validateUpdate,
}

const statusStrategy: Strategy<Pod> = {
  prepareForUpdate: (pod, old) => {
    restore(pod, old, 'spec')
    restore(pod.metadata, old.metadata, 'ownerReferences')
    pod.status ??= {}
    if (old.status?.qosClass) pod.status.qosClass ??= old.status.qosClass
  },
  validateUpdate: ({status}, old) =>
    immutableField('status.qosClass', status?.qosClass, old.status?.qosClass),
}

/** A pod that runs nowhere or has ended needs no grace period. */
function gracePeriodSeconds({spec, status}: Pod): number {
  const over = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (!spec?.nodeName || over) return 0
  return spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
}

export const pods = defineResource<Pod>({
  plural: 'pods',
  type: 'core/v1.Pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  writtenByNodes: true,
  generation: true,
  strategy,
  subresources: {binding: bindingSubresource, status: statusSubresource<Pod>(statusStrategy)},
  fields: {
    'spec.nodeName': ({spec}) => spec?.nodeName ?? '',
    'spec.restartPolicy': ({spec}) => spec?.restartPolicy ?? '',
    'spec.schedulerName': ({spec}) => spec?.schedulerName ?? '',
    'spec.serviceAccountName': ({spec}) => spec?.serviceAccountName ?? '',
    'spec.hostNetwork': ({spec}) => String(spec?.hostNetwork ?? false),
    'status.phase': ({status}) => status?.phase ?? '',
    'status.podIP': ({status}) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
    'status.podIPs': ({status}) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
    'status.nominatedNodeName': ({status}) => status?.nominatedNodeName ?? '',
  },
  fieldAliases: {'spec.host': 'spec.nodeName'},
  columns: podColumns,
  gracePeriodSeconds,
})

export const runtimeClasses = defineResource<RuntimeClass>({
  plural: 'runtimeclasses',
  type: 'node/v1.RuntimeClass',
  namespaced: false,
  createOnUpdate: true,
  conditionalUpdateOnly: true,
  strategy: {validate: (one) => validateBySchema('node/v1.RuntimeClass', one)},
  columns: [NAME, column('Handler', 'The configuration of it.', ({handler = ''}) => handler), AGE],
})
