import type {Binding} from '../../api/core.ts'
import type {ApiObject, Received} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {notSupported, required} from '../kernel/field-error.ts'
import type {OperationContext, Subresource} from '../kernel/resource.ts'
import {StatusError, badRequest, conflict} from '../kernel/status.ts'
import {timestamp} from './define.ts'
import type {Pod} from '../../api/pod.ts'

const RESOURCE = {group: '', plural: 'pods/binding'}

function validate({target = {}}: Received<Binding>): FieldError[] {
  const {kind = '', name = ''} = target
  return [
    ...(['', 'Node'].includes(kind)
      ? []
      : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ]
}

/** Puts a pod on a node; a scheduler does that once. */
function bind(binding: Received<Binding>, pod: Pod, {clock, name}: OperationContext): ApiObject {
  if ((binding.metadata.name ?? '') !== name) {
    throw badRequest('name in URL does not match name in Binding object')
  }
  const errors = validate(binding).map(({field, message}) => `${field}: ${message}`)
  // Kubernetes returns these errors as they are, not as an Invalid status.
  if (errors.length > 0) {
    const [text = ''] = errors.length > 1 ? [`[${errors.join(', ')}]`] : errors
    throw new StatusError(500, undefined, text)
  }
  const spec = (pod.spec ??= {})
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(RESOURCE, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if (spec.nodeName) {
    const why = `pod ${name} is already assigned to node "${spec.nodeName}"`
    throw conflict(RESOURCE, name, why)
  }
  if (spec.schedulingGates?.length) {
    throw conflict(RESOURCE, name, `pod ${name} has non-empty .spec.schedulingGates`)
  }
  spec.nodeName = binding.target?.name ?? ''
  if (binding.metadata.annotations) {
    pod.metadata.annotations = {...pod.metadata.annotations, ...binding.metadata.annotations}
  }
  const others = pod.status?.conditions?.filter(({type}) => type !== 'PodScheduled') ?? []
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(clock.now()),
  }
  pod.status = {...pod.status, conditions: [...others, scheduled]}
  return {kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201}
}

export const bindingSubresource: Subresource<Pod> = {
  verbs: ['create'],
  kind: {group: '', version: 'v1', kind: 'Binding', type: 'core/v1.Binding'},
  create: bind,
  stores: true,
}
