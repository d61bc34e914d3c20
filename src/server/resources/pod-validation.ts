import {
  duplicate,
  invalidValue,
  required,
  forbiddenField,
  type FieldError,
} from '../kernel/field-error.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsLabel, dnsSubdomain, qualifiedName} from '../validation/names.ts'
import {checkWith, inRange, oneOf, requiredWith, type Check} from '../validation/values.ts'
import {validateContainer, validateProbes} from './container-validation.ts'
import type {Container, Pod, PodSpec, Toleration, Volume} from '../../api/pod.ts'

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
