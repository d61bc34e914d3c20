import type {Container, Pod, PodSpec, Toleration, Volume} from '../../api/pod.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../kernel/field-error.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsLabel, dnsSubdomain, qualifiedName} from '../validation/names.ts'
import {
  type Check,
  checkWith,
  inRange,
  oneOf,
  requiredWith,
  semanticallyEqual,
} from '../validation/values.ts'
import {validateContainer, validateProbes} from './container-validation.ts'

const MOST_SECONDS = 2 ** 31 - 1

function validateContainers(spec: PodSpec, volumes: Set<string>): FieldError[] {
  const names = new Set<string>()
  const validateAll = (containers: Container[], path: string) =>
    containers.flatMap((container, index) => {
      const field = `${path}[${index}]`
      const repeated = container.name !== undefined && names.has(container.name)
      if (container.name) names.add(container.name)
      return [
        ...validateContainer(container, field, volumes),
        ...(repeated ? [duplicate(`${field}.name`, container.name)] : []),
        ...validateProbes(container, field),
      ]
    })
  return [
    ...(spec.containers?.length ? [] : [required('spec.containers')]),
    ...validateAll(spec.containers ?? [], 'spec.containers'),
    ...validateAll(spec.initContainers ?? [], 'spec.initContainers'),
  ]
}

function validateToleration(toleration: Toleration, field: string): FieldError[] {
  const {key = '', operator = '', value = '', effect = '', tolerationSeconds} = toleration
  const errors = key === '' ? [] : checkWith(qualifiedName, `${field}.key`, key)
  if (key === '' && operator !== 'Exists') {
    const why =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalidValue(`${field}.operator`, operator, why))
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    errors.push(invalidValue(`${field}.effect`, effect, why))
  }
  if (operator === 'Exists' && value !== '') {
    const why = "value must be empty when `operator` is 'Exists'"
    // The names of the internal type, which is what Kubernetes shows.
    const shown = {Key: key, Operator: operator, Value: value, Effect: effect}
    const seconds = {TolerationSeconds: tolerationSeconds ?? null}
    errors.push(invalidValue(`${field}.operator`, {...shown, ...seconds}, why))
  }
  errors.push(
    ...oneOf(`${field}.operator`, operator === '' ? 'Equal' : operator, ['Equal', 'Exists']),
  )
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
  return [...errors, ...(effect === '' ? [] : oneOf(`${field}.effect`, effect, effects))]
}

/** Only for pods: pod templates may leave the image empty. */
const validateImages = (containers: Container[] | undefined, path: string): FieldError[] =>
  (containers ?? []).flatMap(({image = ''}, index) => {
    const why = 'must not have leading or trailing whitespace'
    return image === image.trim() ? [] : [invalidValue(`${path}[${index}].image`, image, why)]
  })

const optional = (check: Check, field: string, value: string | undefined) =>
  value === undefined || value === '' ? [] : checkWith(check, field, value)

/** As Kubernetes' ValidatePodSpec, for the fields that are checked here. */
export function validatePod({spec = {}}: Pod): FieldError[] {
  const {errors, names} = validateVolumes(spec.volumes ?? [])
  return [
    ...errors,
    ...validateContainers(spec, names),
    ...oneOf('spec.restartPolicy', spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...oneOf('spec.dnsPolicy', spec.dnsPolicy, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...validateLabels(spec.nodeSelector, 'spec.nodeSelector'),
    ...optional(dnsSubdomain, 'spec.serviceAccountName', spec.serviceAccountName),
    ...optional(dnsSubdomain, 'spec.nodeName', spec.nodeName),
    ...inRange('spec.activeDeadlineSeconds', spec.activeDeadlineSeconds, 1, MOST_SECONDS),
    ...optional(dnsLabel, 'spec.hostname', spec.hostname),
    ...optional(dnsLabel, 'spec.subdomain', spec.subdomain),
    ...(spec.tolerations ?? []).flatMap((toleration, index) =>
      validateToleration(toleration, `spec.tolerations[${index}]`),
    ),
    ...optional(dnsSubdomain, 'spec.runtimeClassName', spec.runtimeClassName),
    ...validateImages(spec.containers, 'spec.containers'),
    ...validateImages(spec.initContainers, 'spec.initContainers'),
  ]
}

/** What a source requires. Sources are checked in this order, then all others. */
const NEEDS: Record<string, string[]> = {
  emptyDir: [],
  hostPath: ['path'],
  secret: ['secretName'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  downwardAPI: [],
  configMap: ['name'],
  projected: [],
  csi: ['driver'],
}
const ORDER = Object.keys(NEEDS)

const rank = (source: string) => {
  const place = ORDER.indexOf(source)
  return place < 0 ? ORDER.length : place
}

function validateSource(volume: Volume, path: string): FieldError[] {
  const {name: _, ...sources} = volume
  const named = Object.keys(sources)
    .filter((source) => sources[source] !== undefined)
    .sort((one, other) => rank(one) - rank(other))
  return named.flatMap((source, index) => {
    const field = `${path}.${source}`
    if (index > 0) return [forbiddenField(field, 'may not specify more than 1 volume type')]
    const value = sources[source] as Record<string, unknown>
    return (NEEDS[source] ?? [])
      .filter((need) => !value[need])
      .map((need) => required(`${field}.${need}`))
  })
}

/** The volumes of a pod, and the names of those that a container may mount. As Kubernetes' ValidateVolumes. */
function validateVolumes(volumes: Volume[]): {errors: FieldError[]; names: Set<string>} {
  const names = new Set<string>()
  const errors = volumes.flatMap((volume, index) => {
    const field = `spec.volumes[${index}]`
    const {name = ''} = volume
    const found = [
      ...validateSource(volume, field),
      ...requiredWith(dnsLabel, `${field}.name`, name),
      ...(names.has(name) ? [duplicate(`${field}.name`, name)] : []),
    ]
    if (found.length === 0) names.add(name)
    return found
  })
  return {errors, names}
}

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
