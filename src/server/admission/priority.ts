import {isResource, denied} from '../kernel/admission.ts'
import type {AdmissionOperation, AdmissionPlugin} from '../kernel/admission.ts'

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
