import type {Namespace} from '../../api/core.ts'
import {forbidden, notFound} from '../kernel/status.ts'
import {denied, isResource} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

const IMMORTAL = new Set(['default', 'kube-public', 'kube-system'])
const NAMESPACES = {group: '', plural: 'namespaces'}

/** Nothing can be created in a namespace that is missing or being deleted; three namespaces cannot be deleted. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  admit(operation, {namespace, objects}) {
    const {verb, subresource, name} = operation
    if (isResource(operation, '', 'namespaces')) {
      if (verb === 'delete' && subresource === '' && IMMORTAL.has(name)) {
        throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
      }
      return
    }
    if (namespace === '' || verb === 'delete' || verb === 'connect') return
    // A review may name a namespace that does not exist.
    if (isResource(operation, 'authorization.k8s.io', 'localsubjectaccessreviews')) return

    const home = objects.get('namespaces', '', '', namespace) as Namespace | undefined
    if (home === undefined) throw notFound(NAMESPACES, namespace)
    if (verb !== 'create' || home.status?.phase !== 'Terminating') return
    const refusal = denied(
      operation,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    )
    refusal.status.details = {
      ...refusal.status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    }
    throw refusal
  },
}
