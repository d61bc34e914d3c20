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
import {formatTimestamp} from '../../runtime.ts'
import {formOf} from './address-book.ts'
import {belief, type Believer, type ServingPolicy} from './belief.ts'
import {isApiServers, reservedBecause, type NameOwners} from './reserved-names.ts'
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

const KEPT = 'the name was given to nobody since the Node was registered'

/**
 * Whoever got a node's name from an approver that does not ask who has it, as Kubernetes' own, must not get what the node has of the API server's.
 * A join gets its certificate seconds before it registers the Node.
 */
function keptRule(node: string, {given, registeredAt}: Kept): RuleVerdict {
  const say = (holds: boolean, found: string) => verdict('name-kept', KEPT, holds, found)
  if (isUnknown(given)) return say(false, `not known: ${given.unknown}`)
  const {requester = 'somebody', givenAt} = given
  if (givenAt === undefined) return say(true, 'nobody is known to whom it was given')
  const known = `the name "${node}" was given to "${requester}" at ${formatTimestamp(givenAt)}`
  if (registeredAt !== undefined && givenAt <= registeredAt) {
    return say(true, `${known}, before the Node was registered`)
  }
  const when =
    registeredAt === undefined
      ? 'and it is not known when the Node was registered'
      : `after the Node was registered at ${formatTimestamp(registeredAt)}`
  return say(
    false,
    `${known}, ${when}: it may have been taken over; "trustadm node history ${node}" shows how`,
  )
}

type Kept = NonNullable<ServingSituation['keeps']>

/** Only for a request that asks for something of the API server's. */
function keptRules(
  {names, node = ''}: RequestedCertificate,
  {keeps, asApiServer, apiServer}: ServingSituation,
): RuleVerdict[] {
  const isAsked = [...names.dns, ...names.ips].some((text) => {
    const form = formOf(text)
    return asApiServer?.has(form) && isApiServers(form, apiServer)
  })
  return keeps && isAsked ? [keptRule(node, keeps)] : []
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
  const rules = [...fixed, ...nameRules(requested, situation, about)]
  // That one is for a person, who may know why: the kubelet would only ask again.
  return opinion([...rules, ...keptRules(requested, situation)], deny && !allHold(rules))
}

function opinion(rules: RuleVerdict[], isFinal: boolean): ApproverOpinion {
  const approver = SERVING_APPROVER.name
  if (allHold(rules)) return {approver, decision: 'approve', rules}
  return isFinal
    ? {approver, decision: 'deny', rules, reason: SERVING_DENIED}
    : {approver, decision: 'hold', rules, reason: SERVING_HELD}
}
