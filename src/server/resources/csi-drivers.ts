import type {CSIDriver, CSIDriverSpec} from '../../api/storage.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {duplicate, invalidValue, required, tooLong} from '../kernel/field-error.ts'
import type {Column} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {immutableField, semanticallyEqual, checkWith, oneOf} from '../validation/values.ts'
import {dnsSubdomain} from '../validation/names.ts'
import {AGE, NAME, column} from './columns.ts'
import {defineResource} from './define.ts'

const MOST_NAME = 63
const LEAST_TOKEN_SECONDS = 600
const FS_GROUP_POLICIES = ['ReadWriteOnceWithFSType', 'File', 'None']
const MODES = ['Ephemeral', 'Persistent']

/** Drivers are named like domains, and short enough for a label. */
export function validateDriverName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)]
  return [
    ...(name.length > MOST_NAME ? [tooLong(field, MOST_NAME)] : []),
    ...checkWith(dnsSubdomain, field, name.toLowerCase()),
  ]
}

function defaults(driver: CSIDriver): void {
  const spec = (driver.spec ??= {})
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  spec.storageCapacity ??= false
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  spec.requiresRepublish ??= false
  spec.seLinuxMount ??= false
  if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent']
}

function validateTokenRequests(
  requests: NonNullable<CSIDriverSpec['tokenRequests']>,
): FieldError[] {
  const seen = new Set<string>()
  return requests.flatMap(({audience = '', expirationSeconds: seconds}, index) => {
    const field = `spec.tokenRequests[${index}]`
    const repeated = seen.has(audience)
    seen.add(audience)
    return [
      ...(repeated ? [duplicate(`${field}.audience`, audience)] : []),
      ...(seconds !== undefined && seconds < LEAST_TOKEN_SECONDS
        ? [
            invalidValue(
              `${field}.expirationSeconds`,
              seconds,
              'may not specify a duration less than 10 minutes',
            ),
          ]
        : []),
    ]
  })
}

function validate({metadata, spec = {}}: CSIDriver): FieldError[] {
  return [
    ...validateDriverName(metadata.name ?? '', 'metadata.name'),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) =>
      oneOf('spec.volumeLifecycleModes', mode, MODES),
    ),
    ...oneOf('spec.fsGroupPolicy', spec.fsGroupPolicy, FS_GROUP_POLICIES),
    ...validateTokenRequests(spec.tokenRequests ?? []),
  ]
}

const IMMUTABLE: (keyof CSIDriverSpec)[] = ['attachRequired', 'volumeLifecycleModes']
const COUNTED: (keyof CSIDriverSpec)[] = ['tokenRequests', 'requiresRepublish', 'seLinuxMount']

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
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'csidrivers',
  singular: 'csidriver',
  kind: 'CSIDriver',
  type: 'storage/v1.CSIDriver',
  namespaced: false,
  verbs: ALL_VERBS,
  conditionalUpdateOnly: true,
  strategy: {
    defaults,
    validate,
    prepareForUpdate: ({metadata, spec}, old) => {
      const changed = COUNTED.some((field) => !semanticallyEqual(spec?.[field], old.spec?.[field]))
      if (changed) metadata.generation = (old.metadata.generation ?? 0) + 1
    },
    validateUpdate: ({spec}, old) =>
      IMMUTABLE.flatMap((field) =>
        immutableField(`spec.${field}`, spec?.[field], old.spec?.[field]),
      ),
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
