import type {Lease} from '../../api/coordination.ts'
import type {Node, Taint} from '../../api/node.ts'
import {
  type FieldError,
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../kernel/field-error.ts'
import type {Column} from '../kernel/resource.ts'
import {
  checkWith,
  cidr,
  notNegative,
  requiredWith,
  semanticallyEqual,
} from '../validation/values.ts'
import {labelValue, qualifiedName} from '../validation/names.ts'
import {
  AGE,
  column,
  defineResource,
  firstNonEmpty,
  keepStatus,
  NAME,
  orNone,
  statusSubresource,
  wideColumn,
} from './define.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** podCIDR is the first of podCIDRs, whichever of the two was sent; if they differ, the older field counts. */
function defaults({spec}: Node): void {
  if (spec?.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR]
  if (spec && !spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0]
}

function validateTaints(taints: Taint[]): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, index) => {
    const field = `spec.taints[${index}]`
    const errors = [
      ...requiredWith(qualifiedName, `${field}.key`, taint.key),
      ...checkWith(labelValue, `${field}.value`, taint.value ?? ''),
      ...(EFFECTS.includes(taint.effect)
        ? []
        : [notSupported(`${field}.effect`, taint.effect, EFFECTS)]),
    ]
    const identity = `${taint.effect} ${taint.key}`
    if (seen.has(identity)) {
      const {key, value = '', effect} = taint
      // The names of the internal type, which is what Kubernetes shows.
      const shown = {Key: key, Value: value, Effect: effect, TimeAdded: null}
      errors.push(duplicate(field, shown, 'taints must be unique by key and effect pair'))
    }
    seen.add(identity)
    return errors
  })
}

function validate({spec}: Node): FieldError[] {
  const blocks = spec?.podCIDRs ?? []
  const errors = blocks.flatMap((block, index) => cidr(`spec.podCIDRs[${index}]`, block))
  if (blocks.length > 2) {
    const why = 'may specify no more than one CIDR for each IP family'
    errors.push(invalidValue('spec.podCIDRs', blocks, why))
  }
  return [...validateTaints(spec?.taints ?? []), ...errors]
}

/** Addresses and the provider's name are set once. */
function validateUpdate({spec = {}}: Node, {spec: old = {}}: Node): FieldError[] {
  const errors: FieldError[] = []
  if (old.podCIDRs?.length && !semanticallyEqual(spec.podCIDRs, old.podCIDRs)) {
    const why = 'node updates may not change podCIDR except from "" to valid'
    errors.push(forbiddenField('spec.podCIDRs', why))
  }
  if (old.providerID && spec.providerID !== old.providerID) {
    const why = 'node updates may not change providerID except from "" to valid'
    errors.push(forbiddenField('spec.providerID', why))
  }
  return errors
}

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'

function statusText({spec, status}: Node): string {
  const ready = status?.conditions?.findLast(({type}) => type === 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state
}

function rolesText({metadata}: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)]
    return key === ROLE_LABEL ? [value] : []
  })
  return orNone([...new Set(roles.filter((role) => role !== ''))].sort().join(','))
}

const address = ({status}: Node, type: string) =>
  orNone(status?.addresses?.find((one) => one.type === type)?.address)

const orUnknown = (text: string | undefined) => firstNonEmpty(text, '<unknown>')

function kernelText({status}: Node): string {
  const {kernelVersion = '', architecture = ''} = status?.nodeInfo ?? {}
  return kernelVersion !== '' && architecture !== ''
    ? `${kernelVersion} (${architecture})`
    : orUnknown(kernelVersion)
}

const nodeColumns: Column<Node>[] = [
  NAME,
  column('Status', 'Whether the node is ready, and open to new pods.', statusText),
  column('Roles', 'The roles that its labels name.', rolesText),
  AGE,
  column('Version', "The kubelet's version.", ({status}) => status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn('Internal-IP', 'Its first internal address.', (node) => address(node, 'InternalIP')),
  wideColumn('External-IP', 'Its first external address.', (node) => address(node, 'ExternalIP')),
  wideColumn('OS-Image', 'Its operating system.', ({status}) =>
    orUnknown(status?.nodeInfo?.osImage),
  ),
  wideColumn('Kernel-Version', 'Its kernel and architecture.', kernelText),
  wideColumn('Container-Runtime', 'What runs its containers.', ({status}) =>
    orUnknown(status?.nodeInfo?.containerRuntimeVersion),
  ),
]

/** A kubelet registers with its whole status, so a create keeps it. */
export const nodes = defineResource<Node>({
  plural: 'nodes',
  type: 'core/v1.Node',
  shortNames: ['no'],
  namespaced: false,
  writtenByNodes: true,
  // A real one with all its images and addresses takes about 30 kB.
  mostBytes: 256 * 1024,
  strategy: {defaults, validate, prepareForUpdate: keepStatus, validateUpdate},
  subresources: {status: statusSubresource<Node>()},
  fields: {'spec.unschedulable': ({spec}) => String(spec?.unschedulable ?? false)},
  columns: nodeColumns,
})

function validateLease({spec = {}}: Lease): FieldError[] {
  const {leaseDurationSeconds: seconds, strategy, preferredHolder} = spec
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...notNegative('spec.leaseTransitions', spec.leaseTransitions),
    ...(strategy === undefined ? [] : checkWith(qualifiedName, 'spec.strategy', strategy)),
    ...(preferredHolder && !strategy
      ? [forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined')]
      : []),
  ]
}

export const leases = defineResource<Lease>({
  plural: 'leases',
  type: 'coordination/v1.Lease',
  namespaced: true,
  writtenByNodes: true,
  mostBytes: 16 * 1024,
  createOnUpdate: true,
  conditionalUpdateOnly: true,
  strategy: {validate: validateLease},
  columns: [NAME, column('Holder', 'Who holds it.', ({spec}) => spec?.holderIdentity ?? ''), AGE],
})
