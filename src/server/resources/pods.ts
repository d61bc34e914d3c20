import type {Binding} from '../../api/core.ts'
import type {ApiObject, Received} from '../../api/meta.ts'
import type {Pod, PodCondition} from '../../api/pod.ts'
import {type FieldError, notSupported, required} from '../kernel/field-error.ts'
import {
  ALL_VERBS,
  type OperationContext,
  type Strategy,
  type Subresource,
} from '../kernel/resource.ts'
import {badRequest, conflict, StatusError} from '../kernel/status.ts'
import {immutableField} from '../validation/values.ts'
import {defineResource, keepStatus, restore, statusSubresource} from './define.ts'
import {podColumns} from './pod-columns.ts'
import {addTolerations, defaultPod, mirrorServiceAccount, qosClassOf} from './pod-defaults.ts'
import {validatePod, validatePodUpdate} from './pod-validation.ts'
import {formatTimestamp} from '../../runtime.ts'

const RESOURCE = {group: '', plural: 'pods/binding'}

function validate({target = {}}: Received<Binding>): FieldError[] {
  const {kind = '', name = ''} = target
  return [
    ...(['', 'Node'].includes(kind)
      ? []
      : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ]
}

/** Puts a pod on a node; a scheduler does that once. */
function bind(binding: Received<Binding>, pod: Pod, {clock, name}: OperationContext): ApiObject {
  if ((binding.metadata.name ?? '') !== name) {
    throw badRequest('name in URL does not match name in Binding object')
  }
  const errors = validate(binding).map(({field, message}) => `${field}: ${message}`)
  // Kubernetes returns these errors as they are, not as an Invalid status.
  if (errors.length > 0) {
    const [text = ''] = errors.length > 1 ? [`[${errors.join(', ')}]`] : errors
    throw new StatusError(500, undefined, text)
  }
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
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: formatTimestamp(clock.now()),
  }
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

function gatedConditions({clock}: OperationContext): PodCondition[] {
  return [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
      lastProbeTime: null,
      lastTransitionTime: formatTimestamp(clock.now()),
    },
  ]
}

const strategy: Strategy<Pod> = {
  defaults: defaultPod,
  prepareForCreate: (pod, context) => {
    const spec = (pod.spec ??= {})
    mirrorServiceAccount(spec)
    addTolerations(spec)
    pod.status = {
      phase: 'Pending',
      ...(spec.schedulingGates?.length ? {conditions: gatedConditions(context)} : {}),
      qosClass: qosClassOf(spec),
    }
  },
  validate: validatePod,
  prepareForUpdate: keepStatus,
  validateUpdate: validatePodUpdate,
}

/** A status update cannot change a pod's owners. */
function keepOwners({metadata}: Pod, {metadata: {ownerReferences}}: Pod): void {
  if (ownerReferences === undefined) delete metadata.ownerReferences
  else metadata.ownerReferences = structuredClone(ownerReferences)
}

const statusStrategy: Strategy<Pod> = {
  prepareForUpdate: (pod, old) => {
    restore(pod, old, 'spec')
    keepOwners(pod, old)
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
  group: '',
  version: 'v1',
  plural: 'pods',
  singular: 'pod',
  kind: 'Pod',
  type: 'core/v1.Pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  verbs: ALL_VERBS,
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
