import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {API_SERVER_CLIENT, KUBELET_CLIENT} from '../../csr/signers.ts'

/** A part of a request's subject that has all rights in the cluster. */
export interface AdminRight {
  kind: 'user' | 'group'
  name: string
}

interface Subject {
  commonName: string
  organizations: readonly string[]
}

type Reviews = Pick<ApiClient, 'subjectAccessReviews'>

/** A subject may have any number of groups; nobody reads more names than this. */
const MOST_NAMED = 32
const EVERYTHING = {verb: '*', group: '*', resource: '*'}
const LOGINS = [API_SERVER_CLIENT, KUBELET_CLIENT]

/** Whether a certificate for it could be used as a login. */
const isLogin = ({signerName, usages = []}: CertificateSigningRequest['spec']): boolean =>
  LOGINS.includes(signerName) || usages.includes('client auth') || usages.includes('any')

async function mayDoEverything(
  {subjectAccessReviews}: Reviews,
  caller: {user?: string; groups?: string[]},
): Promise<boolean> {
  const review = {metadata: {}, spec: {...caller, resourceAttributes: EVERYTHING}}
  const {status} = await subjectAccessReviews.create(review)
  return status?.allowed === true && status.denied !== true
}

/**
 * The user and the groups of a subject that may do everything in the cluster. This is asked of the server's authorizer: which
 * groups are administrators is a matter of bindings, not of names.
 */
export async function adminRightsOf(
  client: Reviews,
  {spec}: Pick<CertificateSigningRequest, 'spec'>,
  {commonName, organizations}: Subject,
): Promise<AdminRight[]> {
  const groups = [...new Set(organizations)]
  if (!isLogin(spec) || (commonName === '' && groups.length === 0)) return []
  const whole = {...(commonName !== '' && {user: commonName}), groups}
  if (!(await mayDoEverything(client, whole))) return []
  const found: AdminRight[] = []
  for (const group of groups.slice(0, MOST_NAMED)) {
    if (await mayDoEverything(client, {groups: [group]})) found.push({kind: 'group', name: group})
  }
  const isUser = commonName !== '' && (await mayDoEverything(client, {user: commonName}))
  if (isUser || found.length === 0) found.push({kind: 'user', name: commonName})
  return found
}
