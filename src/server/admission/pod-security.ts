import type {ApiObject} from '../../api/meta.ts'
import type {Pod} from '../../api/pod.ts'
import {isResource, type AdmissionPlugin} from '../kernel/admission.ts'

const LABELS = ['enforce', 'audit', 'warn'].flatMap((mode) => [
  `pod-security.kubernetes.io/${mode}`,
  `pod-security.kubernetes.io/${mode}-version`,
])
const ANNOTATION = 'kubernetes.io/enforce-mountable-secrets'

const warning = (subject: string): string =>
  `${subject} has no effect: this server does not check what pods may do; see "Pod Security" in docs/security.md`

const labelOf = (namespace: ApiObject | undefined, name: string): string | undefined =>
  namespace?.metadata.labels?.[name]

const annotationOf = (account: ApiObject | undefined): string | undefined =>
  account?.metadata.annotations?.[ANNOTATION]

/**
 * Says that the settings of Pod Security are not enforced, to whoever sets one or creates a pod where one is set. Never refuses: many tools
 * label every namespace.
 */
export const podSecurityWarning: AdmissionPlugin = {
  name: 'PodSecurityWarning',
  validate(operation, {namespace, objects, warn}) {
    const {verb, subresource, object, old} = operation
    if (isResource(operation, '', 'namespaces')) {
      for (const name of LABELS) {
        const value = labelOf(object, name)
        if (value !== undefined && value !== labelOf(old, name)) {
          warn(warning(`the label ${name}`))
        }
      }
    } else if (isResource(operation, '', 'serviceaccounts')) {
      const value = annotationOf(object)
      if (value !== undefined && value !== annotationOf(old)) {
        warn(warning(`the annotation ${ANNOTATION}`))
      }
    } else if (isResource(operation, '', 'pods') && verb === 'create' && subresource === '') {
      const home = objects.get('namespaces', '', '', namespace)
      const names = LABELS.filter((name) => labelOf(home, name) !== undefined)
      if (names.length > 0) {
        warn(warning(`the label ${names.join(', ')} of the namespace ${namespace}`))
      }
      const {serviceAccountName: name = ''} = (object as Pod).spec ?? {}
      const account = objects.get('serviceaccounts', '', namespace, name)
      if (annotationOf(account) !== undefined) {
        warn(warning(`the annotation ${ANNOTATION} of the service account ${name}`))
      }
    }
  },
}
