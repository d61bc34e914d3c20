import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {SERVING_APPROVER, recognise} from '../../csr/approvers.ts'
import {
  allHold,
  isUnknown,
  verdict,
  type ApproverOpinion,
  type RuleVerdict,
  type Unknown,
} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {belief, type Believer, type ServingPolicy} from './belief.ts'
import {reservedBecause, type NameOwners} from './reserved-names.ts'
import type {ServingSituation} from './serving-situation.ts'

/** The reason in the condition, if it is denied. */
export const SERVING_DENIED = 'KubeletServingPolicy'
const SERVING_HELD = 'KubeletServingHeld'

type Csr = Pick<CertificateSigningRequest, 'spec'>

export interface ServingFacts {
  /** Undefined if the request does not come from a node. */
  situation: ServingSituation | Unknown | undefined
  /** Absent if it is not known, as in `certificate show`: it is set where the approver runs. */
  policy?: ServingPolicy | undefined
}

const OWNERS_KNOWN = 'it is known who has the names and addresses'

/** Two rules for each name: it is not reserved, and it is the node's. */
function nameRules(
  {names}: RequestedCertificate,
  owners: NameOwners,
  about: Believer,
): RuleVerdict[] {
  return [...names.dns, ...names.ips].flatMap((text) => {
    const reserved = reservedBecause(text, about.node, owners)
    const {holds, found} = belief(text, about)
    return [
      verdict(
        'allowed-for-nodes',
        `"${text}" may be a node's`,
        reserved === undefined,
        `"${text}" ${reserved ?? "may be a node's"}`,
      ),
      verdict('owned-by-node', `"${text}" is this node's`, holds, found),
    ]
  })
}

/**
 * Approves the serving certificate of a kubelet, which Kubernetes leaves to people, if every name in it is known to be the
 * node's: by its Machine, or without one by what the server has seen and the policy allows. Denies only if the policy says so.
 */
export function servingOpinion(
  csr: Csr,
  requested: RequestedCertificate,
  facts: ServingFacts,
): ApproverOpinion {
  const fixed = recognise(SERVING_APPROVER, csr, requested)
  const [ofSigner] = fixed
  if (!ofSigner.holds) {
    return {approver: SERVING_APPROVER.name, decision: 'ignore', rules: [ofSigner]}
  }
  const {situation = {unknown: 'the request does not come from a node'}, policy} = facts
  const {deny = false} = policy ?? {}
  const {node = ''} = requested
  // What is unknown or not registered yet may change later. A reserved name never becomes valid.
  const unsettled = (why: string) =>
    opinion([...fixed, verdict('owners-known', OWNERS_KNOWN, false, why)], deny && !allHold(fixed))

  // Checked before the names: a request may have thousands of them.
  if (fixed.some(({code, holds}) => code === 'name-count' && !holds)) return opinion(fixed, deny)
  if (isUnknown(situation)) return unsettled(`not known: ${situation.unknown}`)
  const {voucher} = situation
  if (voucher.kind === 'none') return unsettled(voucher.why)
  const {apiServer, asApiServer} = situation
  const about = {csr, node, voucher, policy, apiServer, asApiServer}
  return opinion([...fixed, ...nameRules(requested, situation, about)], deny)
}

function opinion(rules: RuleVerdict[], isFinal: boolean): ApproverOpinion {
  const approver = SERVING_APPROVER.name
  if (allHold(rules)) return {approver, decision: 'approve', rules}
  return isFinal
    ? {approver, decision: 'deny', rules, reason: SERVING_DENIED}
    : {approver, decision: 'hold', rules, reason: SERVING_HELD}
}
