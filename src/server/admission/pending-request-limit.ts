import {tooManyRequests} from '../status.ts'
import type {OperationContext} from '../resource.ts'
import {isForRequests} from './certificate-signers.ts'
import type {PendingRequests} from './pending-requests.ts'
import type {AdmissionPlugin} from './plugin.ts'

const DEFAULT_LIMIT = 500
const RETRY_SECONDS = 30

/**
 * One requester cannot fill the server with certificate requests that nobody has decided on. Who may delete requests is
 * not held back: the limit is for those who can only ask.
 */
export function pendingRequestLimit(
  pending: Pick<PendingRequests, 'countOf'>,
  limit = DEFAULT_LIMIT,
): AdmissionPlugin {
  return {
    name: 'PendingRequestLimit',
    admit(operation, context) {
      if (!isForRequests(operation, 'create', '')) return
      const {username} = context.user
      const count = pending.countOf(username)
      if (count < limit || mayDelete(context)) return
      throw tooManyRequests(
        RETRY_SECONDS,
        `${count} certificate signing requests of ${JSON.stringify(username)} are pending; wait until they are decided`,
      )
    },
  }
}

const mayDelete = ({user, authorize, version}: OperationContext) =>
  authorize(user, {
    verb: 'delete',
    resource: {
      group: 'certificates.k8s.io',
      version,
      resource: 'certificatesigningrequests',
      subresource: '',
      namespace: '',
      name: '',
    },
  }).allowed
