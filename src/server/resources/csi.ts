import type {CSIDriver, CSIDriverSpec, CSINode} from '../../api/storage.ts'
import {duplicate, type FieldError, invalidValue, required, tooLong} from '../kernel/field-error.ts'
import {ALL_VERBS, type Column} from '../kernel/resource.ts'
import {dnsSubdomain, qualifiedName} from '../validation/names.ts'
import {
  checkWith,
  immutableField,
  notNegative,
  oneOf,
  semanticallyEqual,
} from '../validation/values.ts'
import {AGE, column, defineResource, NAME} from './define.ts'

const MOST_NAME = 63
const LEAST_TOKEN_SECONDS = 600
const FS_GROUP_POLICIES = ['ReadWriteOnceWithFSType', 'File', 'None']
const MODES = ['Ephemeral', 'Persistent']

/** Drivers are named like domains, and short enough for a label. */
function validateDriverName(name: string, field: string): FieldError[] {
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

function validateDriver({metadata, spec = {}}: CSIDriver): FieldError[] {
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
    validate: validateDriver,
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

function validateNode({spec}: CSINode): FieldError[] {
  const seen = new Set<string>()
  return (spec?.drivers ?? []).flatMap((driver, index) => {
    const field = `spec.drivers[${index}]`
    const name = driver.name ?? ''
    const repeated = seen.has(name)
    seen.add(name)
    return [
      ...validateDriverName(name, `${field}.name`),
      ...(driver.nodeID ? [] : [required(`${field}.nodeID`)]),
      ...notNegative(`${field}.allocatable.count`, driver.allocatable?.count),
      ...(driver.topologyKeys ?? []).flatMap((key, at) =>
        checkWith(qualifiedName, `${field}.topologyKeys[${at}]`, key),
      ),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
    ]
  })
}

export const csiNodes = defineResource<CSINode>({
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'csinodes',
  singular: 'csinode',
  kind: 'CSINode',
  type: 'storage/v1.CSINode',
  namespaced: false,
  verbs: ALL_VERBS,
  writtenByNodes: true,
  mostBytes: 64 * 1024,
  conditionalUpdateOnly: true,
  strategy: {validate: validateNode},
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
