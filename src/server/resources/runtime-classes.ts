import type {RuntimeClass} from '../../api/runtime-class.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {immutableField, requiredWith} from '../validation/values.ts'
import {validateLabels} from '../validation/metadata.ts'
import {dnsLabel} from '../validation/names.ts'
import {canonicalizeResources} from '../validation/quantity.ts'
import {AGE, column, defineResource, NAME} from './define.ts'

export const runtimeClasses = defineResource<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  kind: 'RuntimeClass',
  type: 'node/v1.RuntimeClass',
  namespaced: false,
  verbs: ALL_VERBS,
  createOnUpdate: true,
  conditionalUpdateOnly: true,
  strategy: {
    defaults: ({overhead}) => {
      canonicalizeResources(overhead?.podFixed)
    },
    validate: ({handler, scheduling}) => [
      ...requiredWith(dnsLabel, 'handler', handler),
      ...validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector'),
    ],
    validateUpdate: ({handler}, old) => immutableField('handler', handler, old.handler),
  },
  columns: [NAME, column('Handler', 'The configuration of it.', ({handler = ''}) => handler), AGE],
})
