import type {PersistentVolumeClaim, PersistentVolumeClaimSpec} from '../../api/volumes.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, required} from '../kernel/field-error.ts'
import type {Strategy} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {semanticallyEqual} from '../validation/values.ts'
import {canonicalizeResources, compareQuantities} from '../validation/quantity.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  NAME,
  statusSubresource,
  wideColumn,
} from './define.ts'
import {
  accessModesText,
  storageClassOf,
  validateAccessModes,
  validateAmount,
  validateStorageClass,
  validateVolumeMode,
} from './volumes.ts'

function defaults(claim: PersistentVolumeClaim): void {
  const spec = (claim.spec ??= {})
  spec.volumeMode ??= 'Filesystem'
  canonicalizeResources(spec.resources?.requests)
  canonicalizeResources(spec.resources?.limits)
  canonicalizeResources(claim.status?.capacity)
}

function validate({spec = {}}: PersistentVolumeClaim): FieldError[] {
  const modes = spec.accessModes ?? []
  const wanted = spec.resources?.requests?.storage
  return [
    ...(modes.length === 0
      ? [required('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...validateAccessModes(modes, 'spec.accessModes'),
    ...(wanted === undefined
      ? [required('spec.resources[storage]')]
      : validateAmount(wanted, 'spec.resources[storage]')),
    ...validateStorageClass(spec.storageClassName),
    ...validateVolumeMode(spec.volumeMode),
  ]
}

const withoutChangeable = ({
  resources: _,
  volumeAttributesClassName: __,
  ...spec
}: PersistentVolumeClaimSpec) => spec

/** A binder sets volumeName once, and a bound claim may grow. Nothing else can change. */
function validateUpdate(
  {spec = {}}: PersistentVolumeClaim,
  {spec: old = {}, status}: PersistentVolumeClaim,
): FieldError[] {
  const before = old.volumeName ? old : {...old, ...pick(spec, 'volumeName')}
  const errors: FieldError[] = []
  const bound = status?.phase === 'Bound'
  const sameResources = semanticallyEqual(spec.resources, old.resources)
  if (
    !semanticallyEqual(withoutChangeable(spec), withoutChangeable(before)) ||
    (!bound && !sameResources)
  ) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(forbiddenField('spec', why))
  }
  const [now, then] = [spec.resources?.requests?.storage, old.resources?.requests?.storage]
  if (now !== undefined && then !== undefined && compareQuantities(now, then) < 0) {
    const why = 'field can not be less than status.capacity'
    errors.push(forbiddenField('spec.resources.requests.storage', why))
  }
  return errors
}

const pick = (spec: PersistentVolumeClaimSpec, field: 'volumeName') =>
  spec[field] === undefined ? {} : {[field]: spec[field]}

const strategy: Strategy<PersistentVolumeClaim> = {
  defaults,
  prepareForCreate: (claim) => {
    claim.status = {phase: 'Pending'}
  },
  validate,
  prepareForUpdate: keepStatus,
  validateUpdate,
}

const isBound = ({spec}: PersistentVolumeClaim) => Boolean(spec?.volumeName)

export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  kind: 'PersistentVolumeClaim',
  type: 'core/v1.PersistentVolumeClaim',
  shortNames: ['pvc'],
  namespaced: true,
  verbs: ALL_VERBS,
  strategy,
  subresources: {status: statusSubresource<PersistentVolumeClaim>()},
  columns: [
    NAME,
    column('Status', 'Its phase.', ({metadata, status}) =>
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
    ),
    column('Volume', 'The volume it is bound to.', ({spec}) => spec?.volumeName ?? ''),
    column('Capacity', 'How much the volume holds.', (claim) =>
      isBound(claim) ? String(claim.status?.capacity?.storage ?? '') : '',
    ),
    column('Access Modes', 'How it may be mounted.', (claim) =>
      isBound(claim) ? accessModesText(claim.status?.accessModes) : '',
    ),
    column('StorageClass', 'Its storage class.', storageClassOf),
    column(
      'VolumeAttributesClass',
      'Its volume attributes class.',
      ({spec}) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    AGE,
    wideColumn('VolumeMode', 'Filesystem, or Block.', ({spec}) => spec?.volumeMode ?? '<unset>'),
  ],
})
