import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {NODES} from '../../csr/node-names.ts'
import {KUBELET_SERVING} from '../../csr/signers.ts'
import {canonicalIp} from '../../pki/ip-address.ts'
import type {Asked} from './asked.ts'
import {allHold, verdict, type ApproverOpinion, type RuleVerdict} from './opinion.ts'
import {canonicalDns, type Voucher} from './registered.ts'
import {kubeletServingRules, signerRule} from './shape-rules.ts'
import {isUnknown, type Unknown} from './unknown.ts'

export const SERVING_APPROVER = 'kubelet-serving'
/** Of the condition, where it is denied. */
export const SERVING_DENIED = 'KubeletServingPolicy'
const SERVING_HELD = 'KubeletServingHeld'
export const SERVING_MESSAGE =
  'Approving kubelet serving certificate: every name and address in it is registered.'

type Csr = Pick<CertificateSigningRequest, 'spec'>

export interface ServingFacts {
  /** Undefined where the request is of no node. */
  voucher: Voucher | Unknown | undefined
  /** Deny what asks for more than is registered, or is wrong in itself, instead of leaving it to a person. A kubelet asks anew. */
  deny: boolean
}

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

function nameRules({names}: Asked, voucher: Extract<Voucher, {registered: object}>): RuleVerdict[] {
  const {kind, name, registered} = voucher
  const asked = [
    ...names.dns.map((text) => ({text, form: canonicalDns(text)})),
    ...names.ips.map((text) => ({text, form: canonicalIp(text) ?? text})),
  ]
  return asked.map(({text, form}) => {
    const holds = registered.has(form)
    const found = `"${text}" is ${holds ? '' : 'not '}registered by ${kind} "${name}"`
    return verdict(`"${text}" is a registered name or address`, holds, found)
  })
}

/**
 * Approves the serving certificate of a kubelet, which Kubernetes leaves to people, where its Machine or its Node has
 * registered every name in it. Denies nothing unless told to.
 */
export function servingOpinion(csr: Csr, asked: Asked, facts: ServingFacts): ApproverOpinion {
  const ofSigner = signerRule(asked, KUBELET_SERVING)
  if (!ofSigner.holds) return {approver: SERVING_APPROVER, decision: 'ignore', rules: [ofSigner]}
  const fixed = [ofSigner, ...kubeletServingRules(asked), ...requesterRules(csr, asked)]
  const {voucher = {unknown: 'the request is of no node'}, deny} = facts

  if (isUnknown(voucher) || voucher.kind === 'none') {
    const why = isUnknown(voucher) ? `not known: ${voucher.unknown}` : voucher.why
    const registration = verdict('its names and addresses are registered', false, why)
    // What is not registered yet may still be; what is wrong in itself stays so.
    return opinion([...fixed, registration], deny && !allHold(fixed))
  }
  return opinion([...fixed, ...nameRules(asked, voucher)], deny)
}

function opinion(rules: RuleVerdict[], isFinal: boolean): ApproverOpinion {
  if (allHold(rules)) return {approver: SERVING_APPROVER, decision: 'approve', rules}
  return isFinal
    ? {approver: SERVING_APPROVER, decision: 'deny', rules, reason: SERVING_DENIED}
    : {approver: SERVING_APPROVER, decision: 'hold', rules, reason: SERVING_HELD}
}
