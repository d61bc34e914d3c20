import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue, required} from '../kernel/field-error.ts'
import {semanticallyEqual} from '../validation/values.ts'
import type {Container, Pod, PodSpec, Toleration} from '../../api/pod.ts'

const CHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const withoutImage = ({image: _, ...container}: Container) => container

const withoutSeconds = ({tolerationSeconds: _, ...toleration}: Toleration) => toleration

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

function validateDeadline(now: number | undefined, before: number | undefined): FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  if (before === undefined || now === before) return []
  if (now === undefined) {
    return [invalidValue(field, null, 'must not update from a positive integer to nil value')]
  }
  return now > before
    ? [invalidValue(field, now, 'must be less than or equal to previous value')]
    : []
}

function validateTolerations(now: Toleration[], before: Toleration[]): FieldError[] {
  const kept = before.every((old) =>
    now.some((one) => semanticallyEqual(withoutSeconds(one), withoutSeconds(old))),
  )
  const why = 'existing toleration can not be modified except its tolerationSeconds'
  return kept ? [] : [forbiddenField('spec.tolerations', why)]
}

function validateGates({schedulingGates: now = []}: PodSpec, old: PodSpec): FieldError[] {
  const before = new Set(old.schedulingGates?.map(({name}) => name))
  const added = now.map(({name = ''}) => name).filter((name) => !before.has(name))
  if (added.length === 0) return []
  const why = `only deletion is allowed, but found new scheduling gates: ${added.join(',')}`
  return [forbiddenField('spec.schedulingGates', why)]
}

/** Most of a pod cannot change after it is created. As Kubernetes' ValidatePodUpdate. */
export function validatePodUpdate({spec = {}}: Pod, {spec: old = {}}: Pod): FieldError[] {
  const counts = (['containers', 'initContainers'] as const).filter(
    (field) => (spec[field]?.length ?? 0) !== (old[field]?.length ?? 0),
  )
  if (counts.length > 0) {
    return counts.map((field) =>
      forbiddenField(`spec.${field}`, 'pod updates may not add or remove containers'),
    )
  }
  const imageless = (spec.containers ?? []).flatMap(({image}, index) =>
    image ? [] : [required(`spec.containers[${index}].image`)],
  )
  return [
    ...imageless,
    ...validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
    ...validateTolerations(spec.tolerations ?? [], old.tolerations ?? []),
    ...validateGates(spec, old),
    ...(semanticallyEqual(fixedPart(spec), fixedPart(old))
      ? []
      : [forbiddenField('spec', CHANGEABLE)]),
  ]
}
