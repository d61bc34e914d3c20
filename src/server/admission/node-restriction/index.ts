import {nodeOf} from '../../kernel/users.ts'
import {denied, type AdmissionPlugin} from '../../kernel/admission.ts'
import {certificateRequests, claims, csiNodes, leases} from './own-objects.ts'
import {quoted, type NodeWriteRule} from './node-write.ts'
import {nodes} from './nodes.ts'
import {pods} from './pods.ts'
import {serviceAccounts} from './tokens.ts'

/** By `group/plural`. */
const RULES: ReadonlyMap<string, NodeWriteRule> = new Map([
  ['/pods', pods],
  ['/nodes', nodes],
  ['/persistentvolumeclaims', claims],
  ['/serviceaccounts', serviceAccounts],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
  ['certificates.k8s.io/certificatesigningrequests', certificateRequests],
])

/** As Kubernetes' NodeRestriction: whatever its rights allow, a node writes only its own objects. */
export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  admit(operation, context) {
    const {user} = context
    const node = nodeOf(user)
    if (node === undefined) return
    if (node === '') {
      throw denied(operation, `could not determine node from user ${quoted(user.username)}`)
    }
    RULES.get(`${operation.resource.group}/${operation.resource.plural}`)?.({
      node,
      operation,
      context,
    })
  },
}
