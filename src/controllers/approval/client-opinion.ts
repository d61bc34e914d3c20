import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {recognise, type ClientApprover, type Permission} from '../../csr/approvers.ts'
import {
  allHold,
  isUnknown,
  verdict,
  type ApproverOpinion,
  type RuleVerdict,
  type Unknown,
} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import type {ReviewAnswer} from './access-review.ts'
import {nameRules, type NameClaims} from './name-rule.ts'

/** What an approver of client certificates has to know beyond the request. */
export interface ClientFacts {
  now: Date
  review: ReviewAnswer | Unknown
  /** Only if the approver guards names. */
  claims?: NameClaims | Unknown
}

function accessRule(permission: Permission, review: ClientFacts['review']): RuleVerdict {
  const rule = `the requester may create certificatesigningrequests/${permission}`
  if (isUnknown(review)) return verdict('access', rule, false, `not known: ${review.unknown}`)
  const why = review.reason === '' ? '' : `: ${review.reason}`
  return verdict(
    'access',
    rule,
    review.allowed,
    review.allowed ? `allowed${why}` : `not allowed by a SubjectAccessReview${why}`,
  )
}

/** What one approver thinks, given its facts; it needs none for a request that it does not recognise. */
export function clientOpinion(
  approver: ClientApprover,
  csr: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
  requested: RequestedCertificate,
  facts: ClientFacts | undefined,
): ApproverOpinion {
  const recognised = recognise(approver, csr, requested)
  if (facts === undefined || !allHold(recognised)) {
    return {approver: approver.name, decision: 'ignore', rules: recognised}
  }
  const allowed = accessRule(approver.name, facts.review)
  const rules = [...recognised, allowed]
  if (!approver.guardsNames) return opinion(approver, rules, 'NotAllowed')
  const {claims = {unknown: 'it was not checked'}, now} = facts
  const from = {
    requester: csr.spec.username ?? '',
    revision: csr.metadata.resourceVersion ?? '',
  }
  const [name, ...others] = nameRules(requested, from, claims, now)
  const why = name.holds ? 'Superseded' : 'NodeNameTaken'
  return opinion(approver, [...rules, name, ...others], allowed.holds ? why : 'NotAllowed')
}

function opinion({name}: ClientApprover, rules: RuleVerdict[], reason: string): ApproverOpinion {
  return allHold(rules)
    ? {approver: name, decision: 'approve', rules}
    : {approver: name, decision: 'hold', rules, reason}
}
