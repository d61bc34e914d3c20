import type {CSIDriver, CSIDriverSpec, CSINode} from '../../api/storage.ts'
import type {PersistentVolume, PersistentVolumeClaim} from '../../api/volumes.ts'
import type {Column} from '../kernel/resource.ts'
import {validateBySchema} from '../validation/by-schema.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  NAME,
  statusSubresource,
  wideColumn,
} from './define.ts'
import {formatTimestamp} from '../../runtime.ts'
import {defaultSource} from './pod-defaults.ts'

/**
 * Storage: nothing here runs it. Kubelets and controllers need it served, with its defaults; the Node authorizer follows its
 * references.
 */

const SHORT_MODES: [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

const accessModesText = (modes: string[] | undefined) =>
  SHORT_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')

const STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

const PHASE = column<PersistentVolume | PersistentVolumeClaim>(
  'Status',
  'Its phase.',
  ({metadata, status}) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
)

/** The annotation is older than the field, and still takes precedence. */
const STORAGE_CLASS = column<PersistentVolume | PersistentVolumeClaim>(
  'StorageClass',
  'Its storage class.',
  ({metadata, spec}) =>
    metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
)

const ATTRIBUTES_CLASS = column<PersistentVolume | PersistentVolumeClaim>(
  'VolumeAttributesClass',
  'Its volume attributes class.',
  ({spec}) => spec?.volumeAttributesClassName ?? '<unset>',
)

const VOLUME_MODE = wideColumn<PersistentVolume | PersistentVolumeClaim>(
  'VolumeMode',
  'Filesystem, or Block.',
  ({spec}) => spec?.volumeMode ?? '<unset>',
)

function claimText({spec}: PersistentVolume): string {
  const claim = spec?.claimRef
  return claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`
}

export const persistentVolumes = defineResource<PersistentVolume>({
  plural: 'persistentvolumes',
  type: 'core/v1.PersistentVolume',
  shortNames: ['pv'],
  namespaced: false,
  strategy: {
    defaults: (volume) => {
      const spec = (volume.spec ??= {})
      spec.persistentVolumeReclaimPolicy ??= 'Retain'
      spec.volumeMode ??= 'Filesystem'
      defaultSource(spec)
    },
    prepareForCreate: (volume, {clock}) => {
      volume.status = {phase: 'Pending', lastPhaseTransitionTime: formatTimestamp(clock.now())}
    },
    validate: (volume) => validateBySchema('core/v1.PersistentVolume', volume),
    prepareForUpdate: keepStatus,
  },
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
    PHASE,
    column('Claim', 'The claim that has it.', claimText),
    STORAGE_CLASS,
    ATTRIBUTES_CLASS,
    column('Reason', 'Why it is in its phase.', ({status}) => status?.reason ?? ''),
    AGE,
    VOLUME_MODE,
  ],
})

const isBound = ({spec}: PersistentVolumeClaim) => Boolean(spec?.volumeName)

export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  plural: 'persistentvolumeclaims',
  type: 'core/v1.PersistentVolumeClaim',
  shortNames: ['pvc'],
  namespaced: true,
  strategy: {
    defaults: (claim) => {
      const spec = (claim.spec ??= {})
      spec.volumeMode ??= 'Filesystem'
    },
    prepareForCreate: (claim) => {
      claim.status = {phase: 'Pending'}
    },
    validate: (claim) => validateBySchema('core/v1.PersistentVolumeClaim', claim),
    prepareForUpdate: keepStatus,
  },
  subresources: {status: statusSubresource<PersistentVolumeClaim>()},
  columns: [
    NAME,
    PHASE,
    column('Volume', 'The volume it is bound to.', ({spec}) => spec?.volumeName ?? ''),
    column('Capacity', 'How much the volume holds.', (claim) =>
      isBound(claim) ? String(claim.status?.capacity?.storage ?? '') : '',
    ),
    column('Access Modes', 'How it may be mounted.', (claim) =>
      isBound(claim) ? accessModesText(claim.status?.accessModes) : '',
    ),
    STORAGE_CLASS,
    ATTRIBUTES_CLASS,
    AGE,
    VOLUME_MODE,
  ],
})

const flag = (
  name: string,
  description: string,
  field: keyof CSIDriverSpec,
): Column<CSIDriver> => ({
  name,
  type: 'boolean',
  description,
  value: ({spec}) => spec?.[field] === true,
})

export const csiDrivers = defineResource<CSIDriver>({
  plural: 'csidrivers',
  type: 'storage/v1.CSIDriver',
  namespaced: false,
  conditionalUpdateOnly: true,
  strategy: {
    defaults: (driver) => {
      const spec = (driver.spec ??= {})
      spec.attachRequired ??= true
      spec.podInfoOnMount ??= false
      spec.storageCapacity ??= false
      spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
      spec.requiresRepublish ??= false
      spec.seLinuxMount ??= false
      if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent']
    },
    validate: (driver) => validateBySchema('storage/v1.CSIDriver', driver),
  },
  columns: [
    NAME,
    flag('AttachRequired', 'Volumes are attached before they are mounted.', 'attachRequired'),
    flag('PodInfoOnMount', 'The driver is told which pod mounts.', 'podInfoOnMount'),
    flag('StorageCapacity', 'Scheduling asks how much is free.', 'storageCapacity'),
    column('TokenRequests', 'The audiences of tokens it is given.', ({spec}) =>
      spec?.tokenRequests
        ? spec.tokenRequests.map(({audience = ''}) => audience).join(',')
        : '<unset>',
    ),
    flag('RequiresRepublish', 'It is called again from time to time.', 'requiresRepublish'),
    column('Modes', 'The kinds of volumes it serves.', ({spec}) =>
      spec?.volumeLifecycleModes?.length ? spec.volumeLifecycleModes.join(',') : '<none>',
    ),
    AGE,
  ],
})

export const csiNodes = defineResource<CSINode>({
  plural: 'csinodes',
  type: 'storage/v1.CSINode',
  namespaced: false,
  writtenByNodes: true,
  mostBytes: 64 * 1024,
  conditionalUpdateOnly: true,
  strategy: {validate: (node) => validateBySchema('storage/v1.CSINode', node)},
  columns: [
    NAME,
    {
      name: 'Drivers',
      type: 'integer',
      description: 'How many drivers the node has.',
      value: ({spec}) => spec?.drivers?.length ?? 0,
    },
    AGE,
  ],
})
