import type {FieldError} from '../kernel/field-error.ts'
import {duplicate, invalidValue, notFoundField, required} from '../kernel/field-error.ts'
import {dnsLabel, environmentName, portName} from '../validation/names.ts'
import {
  checkWith,
  NOT_NEGATIVE,
  notNegative,
  oneOf,
  portNumber,
  portReference,
  PROTOCOLS,
  requiredWith,
} from '../validation/values.ts'
import {QUANTITY_PATTERN_TEXT, compareQuantities, parseQuantity} from '../validation/quantity.ts'
import type {Container, ContainerPort, EnvironmentVariable, Probe} from '../../api/pod.ts'

const NO_SOURCE =
  'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

function validatePorts(ports: ContainerPort[], path: string): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap((port, index) => {
    const field = `${path}.ports[${index}]`
    const repeated = port.name !== undefined && names.has(port.name)
    if (port.name) names.add(port.name)
    return [
      ...(port.name ? checkWith(portName, `${field}.name`, port.name) : []),
      ...(repeated ? [duplicate(`${field}.name`, port.name)] : []),
      ...(port.containerPort
        ? portNumber(`${field}.containerPort`, port.containerPort)
        : [required(`${field}.containerPort`)]),
      ...(port.hostPort ? portNumber(`${field}.hostPort`, port.hostPort) : []),
      ...oneOf(`${field}.protocol`, port.protocol, PROTOCOLS),
    ]
  })
}

function validateResources(
  {limits = {}, requests = {}}: NonNullable<Container['resources']>,
  path: string,
) {
  const errors: FieldError[] = []
  for (const [part, amounts] of Object.entries({limits, requests})) {
    for (const [name, amount] of Object.entries(amounts)) {
      const field = `${path}.resources.${part}[${name}]`
      if (parseQuantity(amount) === undefined) {
        errors.push(invalidValue(field, amount, QUANTITY_PATTERN_TEXT))
      } else if (compareQuantities(amount, 0) < 0) {
        errors.push(invalidValue(field, amount, NOT_NEGATIVE))
      }
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name]
    if (limit === undefined || compareQuantities(request, limit) <= 0) continue
    const why = `must be less than or equal to ${name} limit of ${limit}`
    errors.push(invalidValue(`${path}.resources.requests`, request, why))
  }
  return errors
}

function validateMounts(
  mounts: NonNullable<Container['volumeMounts']>,
  path: string,
  volumes: Set<string>,
): FieldError[] {
  const paths = new Set<string>()
  return mounts.flatMap(({name = '', mountPath = ''}, index) => {
    const field = `${path}.volumeMounts[${index}]`
    const repeated = paths.has(mountPath)
    paths.add(mountPath)
    return [
      ...(name === '' ? [required(`${field}.name`)] : []),
      ...(volumes.has(name) ? [] : [notFoundField(`${field}.name`, name)]),
      ...(mountPath === '' ? [required(`${field}.mountPath`)] : []),
      ...(repeated ? [invalidValue(`${field}.mountPath`, mountPath, 'must be unique')] : []),
    ]
  })
}

/** A variable has a value or exactly one source. */
function validateVariable({name, value, valueFrom}: EnvironmentVariable, path: string) {
  const errors = requiredWith(environmentName, `${path}.name`, name)
  if (valueFrom === undefined) return errors
  const field = `${path}.valueFrom`
  const sources = Object.values(valueFrom).filter((source) => source !== undefined).length
  if (sources === 0) errors.push(invalidValue(field, '', NO_SOURCE))
  else if (value)
    errors.push(invalidValue(field, '', 'may not be specified when `value` is not empty'))
  else if (sources > 1)
    errors.push(invalidValue(field, '', 'may not have more than one field specified at a time'))
  return errors
}

function validateProbe(probe: Probe | undefined, field: string): FieldError[] {
  if (probe === undefined) return []
  const {httpGet} = probe
  return [
    ...notNegative(`${field}.timeoutSeconds`, probe.timeoutSeconds),
    ...notNegative(`${field}.periodSeconds`, probe.periodSeconds),
    ...notNegative(`${field}.successThreshold`, probe.successThreshold),
    ...notNegative(`${field}.failureThreshold`, probe.failureThreshold),
    ...(httpGet ? portReference(`${field}.httpGet.port`, httpGet.port ?? 0) : []),
  ]
}

/** One container, as Kubernetes' validateContainerCommon. */
export function validateContainer(
  container: Container,
  field: string,
  volumes: Set<string>,
): FieldError[] {
  const image = container.image ?? ''
  return [
    ...requiredWith(dnsLabel, `${field}.name`, container.name),
    ...(image === '' ? [required(`${field}.image`)] : []),
    ...oneOf(`${field}.terminationMessagePolicy`, container.terminationMessagePolicy, [
      'FallbackToLogsOnError',
      'File',
    ]),
    ...validatePorts(container.ports ?? [], field),
    ...(container.env ?? []).flatMap((variable, index) =>
      validateVariable(variable, `${field}.env[${index}]`),
    ),
    ...validateMounts(container.volumeMounts ?? [], field, volumes),
    ...oneOf(`${field}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES),
    ...validateResources(container.resources ?? {}, field),
  ]
}

export const validateProbes = (container: Container, field: string): FieldError[] => [
  ...validateProbe(container.livenessProbe, `${field}.livenessProbe`),
  ...validateProbe(container.readinessProbe, `${field}.readinessProbe`),
  ...validateProbe(container.startupProbe, `${field}.startupProbe`),
]
