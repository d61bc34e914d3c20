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

/** How long a review's result is reused, in milliseconds: machines that join together use the same token. */
const REMEMBERED = 1000
const MOST_REMEMBERED = 1000

/** Access reviews, at most one a second for each requester and permission. */
export class RememberedReviews {
  readonly #client: Pick<ApiClient, 'subjectAccessReviews'>
  readonly #now: () => number
  readonly #answers = new Map<string, {answer: Promise<ReviewAnswer>; until: number}>()

  constructor(
    client: Pick<ApiClient, 'subjectAccessReviews'>,
    now: () => number = () => performance.now(),
  ) {
    this.#client = client
    this.#now = now
  }

  ask(
    csr: Pick<CertificateSigningRequest, 'spec'>,
    permission: Permission,
    options: CallOptions = {},
  ): Promise<ReviewAnswer> {
    const {username, uid, groups, extra} = csr.spec
    const key = JSON.stringify([permission, username, uid, groups, extra])
    const now = this.#now()
    const earlier = this.#answers.get(key)
    if (earlier !== undefined && now < earlier.until) return earlier.answer
    if (this.#answers.size >= MOST_REMEMBERED) this.#answers.clear()
    const answer = askAccess(this.#client, csr, permission, options)
    this.#answers.set(key, {answer, until: now + REMEMBERED})
    // A failure is not remembered.
    answer.catch(() => this.#answers.delete(key))
    return answer
  }
}
