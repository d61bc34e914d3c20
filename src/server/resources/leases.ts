import type {Lease} from '../../api/coordination.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue} from '../kernel/field-error.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {qualifiedName} from '../validation/names.ts'
import {checkWith, notNegative} from '../validation/values.ts'
import {AGE, column, defineResource, NAME} from './define.ts'

function validate({spec = {}}: Lease): FieldError[] {
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
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  singular: 'lease',
  kind: 'Lease',
  type: 'coordination/v1.Lease',
  namespaced: true,
  verbs: ALL_VERBS,
  writtenByNodes: true,
  mostBytes: 16 * 1024,
  createOnUpdate: true,
  conditionalUpdateOnly: true,
  strategy: {validate},
  columns: [NAME, column('Holder', 'Who holds it.', ({spec}) => spec?.holderIdentity ?? ''), AGE],
})
