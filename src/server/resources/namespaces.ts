import type {Namespace} from '../../api/core.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, notSupported} from '../kernel/field-error.ts'
import type {Strategy} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import {validateFinalizerDomain} from '../validation/metadata.ts'
import {dnsLabelName, qualifiedName} from '../validation/names.ts'
import {checkWith} from '../validation/values.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  NAME,
  restore,
  statusSubresource,
} from './define.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'
/** Holds a namespace until it is emptied. */
const FINALIZER = 'kubernetes'

function defaults({metadata}: Namespace): void {
  if (!metadata.name) return
  metadata.labels = {...metadata.labels, [NAME_LABEL]: metadata.name}
}

const validateFinalizers = ({spec}: Namespace): FieldError[] =>
  (spec?.finalizers ?? []).flatMap((name) => [
    ...checkWith(qualifiedName, 'spec.finalizers', name),
    ...validateFinalizerDomain(name, 'spec.finalizers'),
  ])

function validateStatus({metadata, status}: Namespace): FieldError[] {
  const phase = status?.phase ?? ''
  if (!['', 'Active', 'Terminating'].includes(phase)) {
    return [notSupported('status.phase', phase, ['Active', 'Terminating'])]
  }
  const wanted = metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating'
  if (phase === wanted || (phase === '' && wanted === 'Active')) return []
  return [
    invalidValue(
      'status.Phase',
      phase,
      wanted === 'Active'
        ? "may only be 'Active' if `deletionTimestamp` is empty"
        : "may only be 'Terminating' if `deletionTimestamp` is not empty",
    ),
  ]
}

const strategy: Strategy<Namespace> = {
  defaults,
  prepareForCreate: (namespace) => {
    // Again, because a name may have been generated since.
    defaults(namespace)
    const others = (namespace.spec?.finalizers ?? []).filter((name) => name !== FINALIZER)
    namespace.spec = {finalizers: [...others, FINALIZER]}
    namespace.status = {phase: 'Active'}
  },
  validate: validateFinalizers,
  prepareForUpdate: (namespace, old) => {
    restore(namespace, old, 'spec')
    keepStatus(namespace, old)
  },
}

/** PUT of `/finalize` is the one way to change spec.finalizers; the registry removes the object once none is left. */
const finalizeStrategy: Strategy<Namespace> = {
  prepareForUpdate: keepStatus,
  validateUpdate: validateFinalizers,
}

export const namespaces = defineResource<Namespace>({
  plural: 'namespaces',
  type: 'core/v1.Namespace',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
  validateName: dnsLabelName,
  strategy,
  subresources: {
    finalize: {verbs: ['update'], strategy: finalizeStrategy},
    status: statusSubresource<Namespace>({validateUpdate: validateStatus}),
  },
  markDeleting: (namespace) => {
    namespace.status = {...namespace.status, phase: 'Terminating'}
    // Kubernetes gives no grace to namespaces: the field is for kinds that have one.
    delete namespace.metadata.deletionGracePeriodSeconds
  },
  holdsDeletion: ({spec}) => (spec?.finalizers ?? []).length > 0,
  fields: {'status.phase': ({status}) => status?.phase ?? ''},
  columns: [
    NAME,
    column('Status', 'Active, or Terminating.', ({status}) => status?.phase ?? ''),
    AGE,
  ],
})
