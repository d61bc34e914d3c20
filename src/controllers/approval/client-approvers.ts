import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import type {Permission, ReviewAnswer} from './access-review.ts'
import type {Asked} from './asked.ts'
import {nameRules, type NameClaims} from './name-rule.ts'
import {allHold, verdict, type ApproverOpinion, type RuleVerdict} from './opinion.ts'
import {kubeletClientRules, signerRule} from './shape-rules.ts'
import {isUnknown, type Unknown} from './unknown.ts'

type Csr = Pick<CertificateSigningRequest, 'spec' | 'metadata'>

/** What an approver of client certificates has to know beyond the request. */
export interface ClientFacts {
  now: Date
  review: ReviewAnswer | Unknown
  /** Only where the approver guards names. */
  claims?: NameClaims | Unknown
}

/** One of Kubernetes' recognisers: whose requests it knows, and what must be allowed then. */
export interface ClientApprover {
  name: Permission
  /** Of the condition. */
  message: string
  /** Whether the requester has yet to show that the name is theirs to take. */
  guardsNames: boolean
  /** Rules about the request alone. */
  recognise: (csr: Csr, asked: Asked) => RuleVerdict[]
}

const isKubeletClient = (asked: Asked): RuleVerdict[] => [
  signerRule(asked, KUBELET_CLIENT),
  ...kubeletClientRules(asked),
]

const isOwnName = ({spec}: Csr, {commonName}: Asked): RuleVerdict =>
  verdict(
    "the common name is the requester's",
    spec.username === commonName,
    `"${spec.username ?? ''}" asks for "${commonName}"`,
  )

/** In the order in which they are tried: contract §13.1. */
export const CLIENT_APPROVERS: readonly ClientApprover[] = [
  {
    name: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    guardsNames: false,
    recognise: (csr, asked) => [...isKubeletClient(asked), isOwnName(csr, asked)],
  },
  {
    name: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    guardsNames: true,
    recognise: (_csr, asked) => isKubeletClient(asked),
  },
]

function accessRule(permission: Permission, review: ClientFacts['review']): RuleVerdict {
  const rule = `the requester may create certificatesigningrequests/${permission}`
  if (isUnknown(review)) return verdict(rule, false, `not known: ${review.unknown}`)
  const why = review.reason === '' ? '' : `: ${review.reason}`
  return verdict(
    rule,
    review.allowed,
    review.allowed ? `allowed${why}` : `not allowed by a SubjectAccessReview${why}`,
  )
}

/** What one approver thinks, once its facts are there; without them where it does not recognise the request. */
export function clientOpinion(
  approver: ClientApprover,
  csr: Csr,
  asked: Asked,
  facts: ClientFacts | undefined,
): ApproverOpinion {
  const recognised = approver.recognise(csr, asked)
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
  const [name, ...others] = nameRules(asked, from, claims, now)
  const why = name.holds ? 'Superseded' : 'NodeNameTaken'
  return opinion(approver, [...rules, name, ...others], allowed.holds ? why : 'NotAllowed')
}

function opinion({name}: ClientApprover, rules: RuleVerdict[], reason: string): ApproverOpinion {
  return allHold(rules)
    ? {approver: name, decision: 'approve', rules}
    : {approver: name, decision: 'hold', rules, reason}
}
