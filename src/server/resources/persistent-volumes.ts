import type {PersistentVolume, PersistentVolumeSpec} from '../../api/volumes.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, notSupported, required} from '../kernel/field-error.ts'
import type {Strategy} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {immutableField, semanticallyEqual, oneOf} from '../validation/values.ts'
import type {ResourceList} from '../../api/meta.ts'
import {canonicalizeResources} from '../validation/quantity.ts'
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
import {formatTimestamp} from '../../runtime.ts'

const NO_SOURCE = new Set([
  'capacity',
  'accessModes',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeMode',
  'volumeAttributesClassName',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
])

/** The field of the spec that names the volume's source; there must be exactly one. */
const sourceOf = (spec: PersistentVolumeSpec = {}) =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !NO_SOURCE.has(field)))

function defaults(volume: PersistentVolume): void {
  const spec = (volume.spec ??= {})
  canonicalizeResources(spec.capacity)
  spec.persistentVolumeReclaimPolicy ??= 'Retain'
  spec.volumeMode ??= 'Filesystem'
  const {hostPath} = spec as {hostPath?: {type?: string}}
  if (hostPath) hostPath.type ??= ''
}

function validateCapacity(capacity: ResourceList | undefined): FieldError[] {
  const amounts = Object.entries(capacity ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const onlyStorage = amounts.length === 1 && amounts[0]?.[0] === 'storage'
  const shown = capacity && Object.fromEntries(amounts)
  return [
    ...(amounts.length === 0 ? [required('spec.capacity')] : []),
    ...(onlyStorage ? [] : [notSupported('spec.capacity', shown, ['storage'])]),
    ...amounts.flatMap(([name, amount]) => validateAmount(amount, `spec.capacity[${name}]`)),
  ]
}

function validate({spec = {}}: PersistentVolume): FieldError[] {
  const modes = spec.accessModes ?? []
  const sources = Object.keys(sourceOf(spec))
  return [
    ...(modes.length === 0 ? [required('spec.accessModes')] : []),
    ...validateAccessModes(modes, 'spec.accessModes'),
    ...validateCapacity(spec.capacity),
    ...oneOf('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, [
      'Delete',
      'Recycle',
      'Retain',
    ]),
    ...(sources.length === 0 ? [required('spec', 'must specify a volume type')] : []),
    ...sources
      .slice(1)
      .map((source) => forbiddenField(`spec.${source}`, 'may not specify more than 1 volume type')),
    ...validateStorageClass(spec.storageClassName),
    ...validateVolumeMode(spec.volumeMode),
  ]
}

const strategy: Strategy<PersistentVolume> = {
  defaults,
  prepareForCreate: (volume, {clock}) => {
    volume.status = {phase: 'Pending', lastPhaseTransitionTime: formatTimestamp(clock.now())}
  },
  validate,
  prepareForUpdate: keepStatus,
  validateUpdate: ({spec}, old) => [
    ...(semanticallyEqual(sourceOf(spec), sourceOf(old.spec))
      ? []
      : [
          forbiddenField(
            'spec.persistentvolumesource',
            'spec.persistentvolumesource is immutable after creation',
          ),
        ]),
    ...immutableField('spec.volumeMode', spec?.volumeMode, old.spec?.volumeMode),
  ],
}

function claimText({spec}: PersistentVolume): string {
  const claim = spec?.claimRef
  return claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`
}

export const persistentVolumes = defineResource<PersistentVolume>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  kind: 'PersistentVolume',
  type: 'core/v1.PersistentVolume',
  shortNames: ['pv'],
  namespaced: false,
  verbs: ALL_VERBS,
  strategy,
  subresources: {status: statusSubresource<PersistentVolume>()},
  columns: [
    NAME,
    column('Capacity', 'How much it holds.', ({spec}) => String(spec?.capacity?.storage ?? '')),
    column('Access Modes', 'How it may be mounted.', ({spec}) =>
      accessModesText(spec?.accessModes),
    ),
    column(
      'Reclaim Policy',
      'What happens to it when its claim goes.',
      ({spec}) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    column('Status', 'Its phase.', ({metadata, status}) =>
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
    ),
    column('Claim', 'The claim that has it.', claimText),
    column('StorageClass', 'Its storage class.', storageClassOf),
    column(
      'VolumeAttributesClass',
      'Its volume attributes class.',
      ({spec}) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    column('Reason', 'Why it is in its phase.', ({status}) => status?.reason ?? ''),
    AGE,
    wideColumn('VolumeMode', 'Filesystem, or Block.', ({spec}) => spec?.volumeMode ?? '<unset>'),
  ],
})
