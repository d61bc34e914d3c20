import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {askedBy} from './asked.ts'
import type {Permission} from './access-review.ts'
import {CLIENT_APPROVERS, clientOpinion, type ClientFacts} from './client-approvers.ts'
import {verdict, type ApproverOpinion} from './opinion.ts'
import {SERVING_APPROVER, servingOpinion, type ServingFacts} from './serving-approver.ts'

/** What the approvers have to know of the cluster to decide on one request. */
export interface ApprovalFacts {
  /** Of those approvers that recognise the request. */
  client: Partial<Record<Permission, ClientFacts>>
  serving: ServingFacts
}

/** What each approver thinks of a request: just what the controllers decide by. */
export function opinionsOn(
  csr: CertificateSigningRequest,
  facts: ApprovalFacts,
): ApproverOpinion[] {
  const asked = askedBy(csr)
  if (asked === undefined) {
    const rules = [verdict('the request can be read', false, 'it is not one certificate request')]
    const names = [...CLIENT_APPROVERS.map(({name}) => name), SERVING_APPROVER]
    return names.map((approver) => ({approver, decision: 'ignore', rules}))
  }
  return [
    ...CLIENT_APPROVERS.map((one) => clientOpinion(one, csr, asked, facts.client[one.name])),
    servingOpinion(csr, asked, facts.serving),
  ]
}
