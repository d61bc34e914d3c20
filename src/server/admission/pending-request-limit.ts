import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {tooManyRequests} from '../status.ts'
import {isResource} from './plugin.ts'
import type {AdmissionPlugin} from './plugin.ts'

const DEFAULT_LIMIT = 500
const RETRY_SECONDS = 30

const isPending = ({status}: CertificateSigningRequest) =>
  (status?.conditions ?? []).length === 0 && (status?.certificate ?? '') === ''

/** One requester cannot fill the server with certificate requests that nobody has decided on. */
export function pendingRequestLimit(limit = DEFAULT_LIMIT): AdmissionPlugin {
  return {
    name: 'PendingRequestLimit',
    admit(operation, {user, objects}) {
      if (operation.verb !== 'create' || operation.subresource !== '') return
      if (!isResource(operation, 'certificates.k8s.io', 'certificatesigningrequests')) return
      const requests = objects.list('certificatesigningrequests', 'certificates.k8s.io')
      if (requests.length < limit) return
      const pending = (requests as CertificateSigningRequest[]).filter(
        (request) => request.spec.username === user.username && isPending(request),
      )
      if (pending.length < limit) return
      throw tooManyRequests(
        RETRY_SECONDS,
        `${pending.length} certificate signing requests of ${JSON.stringify(user.username)} are pending; wait until they are decided`,
      )
    },
  }
}
