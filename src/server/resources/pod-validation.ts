import type {FieldError} from '../field-error.ts'
import {duplicate, forbiddenField, invalidValue, required} from '../field-error.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsLabel, dnsSubdomain, qualifiedName} from '../validation/names.ts'
import type {Check} from '../validation/names.ts'
import {checkWith, inRange, oneOf, requiredWith} from '../validation/values.ts'
import {validateContainer} from './container-validation.ts'
import type {Container, Pod, PodSpec, Toleration, Volume} from './pod-types.ts'

const MOST_SECONDS = 2 ** 31 - 1

function validateVolumes(volumes: Volume[]): FieldError[] {
  const names = new Set<string>()
  return volumes.flatMap(({name = '', ...sources}, index) => {
    const field = `spec.volumes[${index}]`
    const repeated = names.has(name)
    names.add(name)
    return [
      ...requiredWith(dnsLabel, `${field}.name`, name),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...Object.keys(sources)
        .slice(1)
        .map((source) =>
          forbiddenField(`${field}.${source}`, 'may not specify more than 1 volume type'),
        ),
    ]
  })
}

function validateContainers(spec: PodSpec): FieldError[] {
  const volumes = new Set(spec.volumes?.map(({name = ''}) => name))
  const names = new Set<string>()
  const validateAll = (containers: Container[], path: string) =>
    containers.flatMap((container, index) => {
      const field = `${path}[${index}]`
      const repeated = container.name !== undefined && names.has(container.name)
      if (container.name) names.add(container.name)
      return [
        ...validateContainer(container, field, volumes),
        ...(repeated ? [duplicate(`${field}.name`, container.name)] : []),
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
    errors.push(invalidValue(`${field}.operator`, toleration, why))
  }
  errors.push(
    ...oneOf(`${field}.operator`, operator === '' ? 'Equal' : operator, ['Equal', 'Exists']),
  )
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
  return [...errors, ...(effect === '' ? [] : oneOf(`${field}.effect`, effect, effects))]
}

const optional = (check: Check, field: string, value: string | undefined) =>
  value === undefined || value === '' ? [] : checkWith(check, field, value)

/** As Kubernetes' ValidatePodSpec, for the fields that are looked at here. */
export function validatePod({spec = {}}: Pod): FieldError[] {
  return [
    ...validateVolumes(spec.volumes ?? []),
    ...validateContainers(spec),
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
  ]
}
