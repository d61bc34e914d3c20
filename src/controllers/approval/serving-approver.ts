import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {NODES} from '../../csr/node-names.ts'
import {KUBELET_SERVING} from '../../csr/signers.ts'
import type {Asked} from './asked.ts'
import {belief, type Believer, type ServingPolicy} from './belief.ts'
import {neverBecause, type Surroundings} from './never.ts'
import {allHold, verdict, type ApproverOpinion, type RuleVerdict} from './opinion.ts'
import type {ServingSituation} from './serving-situation.ts'
import {kubeletServingRules, signerRule} from './shape-rules.ts'
import {isUnknown, type Unknown} from './unknown.ts'

export const SERVING_APPROVER = 'kubelet-serving'
/** Of the condition, where it is denied. */
export const SERVING_DENIED = 'KubeletServingPolicy'
const SERVING_HELD = 'KubeletServingHeld'
export const SERVING_MESSAGE =
  'Approving kubelet serving certificate: every name and address in it is known to be the node’s.'

type Csr = Pick<CertificateSigningRequest, 'spec'>

export interface ServingFacts {
  /** Undefined where the request does not come from a node. */
  situation: ServingSituation | Unknown | undefined
  /** Absent where it is not known, as to a person who asks: it is decided where the approver runs. */
  policy?: ServingPolicy | undefined
}

const SETTLED = 'it is known who has the names and addresses'
/** A kubelet asks for its host name and a few addresses. Each name costs a look at what others have. */
const MOST_NAMES = 64
const GROUPS = [NODES, 'system:authenticated']

function requesterRules({spec}: Csr, {commonName}: Asked): RuleVerdict[] {
  const {username = '', groups = []} = spec
  return [
    verdict(
      "the common name is the requester's",
      username === commonName,
      `"${username}" asks for "${commonName}"`,
    ),
    verdict(
      `the requester is in the groups ${GROUPS.join(' and ')}`,
      GROUPS.every((group) => groups.includes(group)),
      `the requester's groups are ${groups.join(', ') || 'none'}`,
    ),
  ]
}

/** Looked at before the names themselves: a request may hold thousands of them. */
const countRule = ({names: {dns, ips}}: Asked): RuleVerdict =>
  verdict(
    `there are at most ${MOST_NAMES} names and addresses`,
    dns.length + ips.length <= MOST_NAMES,
    `it asks for ${dns.length + ips.length} names and addresses, more than ${MOST_NAMES}`,
  )

/** Two rules a name: what no node gets without a person, and whether this one is the node's. */
function nameRules({names}: Asked, surroundings: Surroundings, about: Believer): RuleVerdict[] {
  return [...names.dns, ...names.ips].flatMap((text) => {
    const never = neverBecause(text, about.node, surroundings)
    const {holds, found} = belief(text, about)
    return [
      verdict(
        `"${text}" may be a node's`,
        never === undefined,
        `"${text}" ${never ?? "may be a node's"}`,
      ),
      verdict(`"${text}" is this node's`, holds, found),
    ]
  })
}

/**
 * Approves the serving certificate of a kubelet, which Kubernetes leaves to people, where every name in it is known to be the
 * node's: by its Machine, or without one by what the server has seen and the policy allows. Denies nothing unless told to.
 */
export function servingOpinion(csr: Csr, asked: Asked, facts: ServingFacts): ApproverOpinion {
  const ofSigner = signerRule(asked, KUBELET_SERVING)
  if (!ofSigner.holds) return {approver: SERVING_APPROVER, decision: 'ignore', rules: [ofSigner]}
  const count = countRule(asked)
  const fixed = [ofSigner, ...kubeletServingRules(asked), ...requesterRules(csr, asked), count]
  const {situation = {unknown: 'the request does not come from a node'}, policy} = facts
  const {deny = false} = policy ?? {}
  const {node = ''} = asked
  // What is not known or not registered yet may still be; what is wrong in itself stays so.
  const unsettled = (why: string) =>
    opinion([...fixed, verdict(SETTLED, false, why)], deny && !allHold(fixed))

  if (!count.holds) return opinion(fixed, deny)
  if (isUnknown(situation)) return unsettled(`not known: ${situation.unknown}`)
  const {voucher} = situation
  if (voucher.kind === 'none') return unsettled(voucher.why)
  const about = {csr, node, voucher, policy, apiServer: situation.apiServer}
  return opinion([...fixed, ...nameRules(asked, situation, about)], deny)
}

function opinion(rules: RuleVerdict[], isFinal: boolean): ApproverOpinion {
  if (allHold(rules)) return {approver: SERVING_APPROVER, decision: 'approve', rules}
  return isFinal
    ? {approver: SERVING_APPROVER, decision: 'deny', rules, reason: SERVING_DENIED}
    : {approver: SERVING_APPROVER, decision: 'hold', rules, reason: SERVING_HELD}
}
