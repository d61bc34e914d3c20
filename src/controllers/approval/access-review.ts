import type {SubjectAccessReview} from '../../api/authorization.ts'
import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import type {Permission} from '../../csr/approvers.ts'

export interface ReviewAnswer {
  allowed: boolean
  reason: string
}

/** Asks whether the requester may have the request approved automatically, as Kubernetes' csrapproving controller does. */
export function accessReview(
  {spec}: Pick<CertificateSigningRequest, 'spec'>,
  subresource: Permission,
): SubjectAccessReview {
  const {username, uid, groups, extra} = spec
  return {
    metadata: {},
    spec: {
      ...(username === undefined ? {} : {user: username}),
      ...(uid === undefined ? {} : {uid}),
      ...(groups === undefined ? {} : {groups}),
      ...(extra === undefined ? {} : {extra}),
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
        version: '*',
        subresource,
      },
    },
  }
}

export async function askAccess(
  client: Pick<ApiClient, 'subjectAccessReviews'>,
  csr: Pick<CertificateSigningRequest, 'spec'>,
  permission: Permission,
  options: CallOptions = {},
): Promise<ReviewAnswer> {
  const {status} = await client.subjectAccessReviews.create(accessReview(csr, permission), options)
  const reason = status?.reason ?? status?.evaluationError ?? ''
  return {allowed: status?.allowed === true && status.denied !== true, reason}
}
