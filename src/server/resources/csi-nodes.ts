import type {CSINode} from '../../api/storage.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {duplicate, required} from '../kernel/field-error.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {qualifiedName} from '../validation/names.ts'
import {checkWith, notNegative} from '../validation/values.ts'
import {AGE, NAME} from './columns.ts'
import {validateDriverName} from './csi-drivers.ts'
import {defineResource} from './define.ts'

function validate({spec}: CSINode): FieldError[] {
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
  strategy: {validate},
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
