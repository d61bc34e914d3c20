import type {OperationContext, Strategy} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {immutableField} from '../validation/values.ts'
import {defineResource, keepStatus, restore, statusSubresource, timestamp} from './define.ts'
import {bindingSubresource} from './pod-binding.ts'
import {podColumns} from './pod-columns.ts'
import {addTolerations, defaultPod, mirrorServiceAccount, qosClassOf} from './pod-defaults.ts'
import type {Pod, PodCondition} from '../../api/pod.ts'
import {validatePodUpdate} from './pod-update.ts'
import {validatePod} from './pod-validation.ts'

const DEFAULT_GRACE_SECONDS = 30

function gatedConditions({clock}: OperationContext): PodCondition[] {
  return [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock.now()),
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
