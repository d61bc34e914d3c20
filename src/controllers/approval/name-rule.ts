import type {Asked} from './asked.ts'
import {isGranted, isHeld, isNodeName, reservedKey, type NodeRecord} from './node-record.ts'
import {verdict, type RuleVerdict} from './opinion.ts'
import {isUnknown, type Unknown} from './unknown.ts'

/** A request of the same node name that was approved. */
export interface ApprovedRequest {
  name: string
  pin: string
  /** Of its certificate, once it is issued. */
  notBefore?: Date
  notAfter?: Date
}

/** Who may have the name already. */
export interface NameClaims {
  nodeExists: boolean
  record: NodeRecord | undefined
  /** Without the request itself. */
  approved: readonly ApprovedRequest[]
  /** How many other keys ask for the name in requests that nobody has decided on. */
  rivals: number
}

interface Claim {
  pin: string
  what: string
}

const RULE = 'the node name is free, or held by the same key, or granted by an operator'

const upTo = (until: Date | undefined) =>
  until === undefined ? '' : ` until ${until.toISOString().replace(/\.\d+Z$/, 'Z')}`

function recordClaims(record: NodeRecord | undefined, {pin}: Asked, now: Date): Claim[] {
  if (record?.holder === undefined) return []
  // Whoever held the name last may have it again, also when their certificate has expired.
  if (!isHeld(record, now) && record.holder !== pin) return []
  return [{pin: record.holder, what: `a certificate for it is valid${upTo(record.until)}`}]
}

/** A certificate that expired claims nothing, and one that the record has seen claims nothing besides the record. */
function isLive({notBefore, notAfter}: ApprovedRequest, record: NodeRecord | undefined, now: Date) {
  if (notAfter !== undefined && notAfter <= now) return false
  return !(notBefore && record?.issuedAt && notBefore <= record.issuedAt && isHeld(record, now))
}

/** What says that others have the name; the asking key is among them where it has it. */
function claimantsOf(asked: Asked, {record, approved}: NameClaims, now: Date): Claim[] {
  const live = approved.filter((one) => isLive(one, record, now))
  const reserved = record && reservedKey(record, now)
  const isSeen = reserved === undefined || live.some(({pin}) => pin === reserved)
  return [
    ...recordClaims(record, asked, now),
    ...live.map(({pin, name}) => ({pin, what: `request "${name}" of that name was approved`})),
    ...(isSeen ? [] : [{pin: reserved, what: 'it is kept for another key that is being approved'}]),
  ]
}

/**
 * Whether the name was kept for the key, by an approval that has not come through. What was in the way then has been weighed
 * then; what was approved since counts.
 */
function isKeptFor({pin}: Asked, {record, approved}: NameClaims, now: Date): boolean {
  if (record === undefined || reservedKey(record, now) !== pin) return false
  return approved.every((one) => one.pin === pin || !isLive(one, record, now))
}

/**
 * Kubernetes approves for whoever holds a bootstrap token, also in the name of a node that is there: it could act as that
 * node. Here a name that is taken is given only to the key that has it, or by an operator's word.
 */
export function nameRule(asked: Asked, claims: NameClaims | Unknown, now: Date): RuleVerdict {
  const {node = '', pin} = asked
  if (isUnknown(claims)) return verdict(RULE, false, `not known: ${claims.unknown}`)
  if (!isNodeName(node)) return verdict(RULE, false, `no node can have the name "${node}"`)

  const {record, nodeExists, rivals} = claims
  const claimants = claimantsOf(asked, claims, now)
  if (claimants.length === 0 && !nodeExists) {
    return verdict(RULE, true, `the name "${node}" is free`)
  }
  if (claimants.length > 0 && claimants.every((claim) => claim.pin === pin)) {
    return verdict(RULE, true, `the key that asks holds the name "${node}"`)
  }
  if (isKeptFor(asked, claims, now)) {
    return verdict(RULE, true, `the name "${node}" is kept for the key that asks`)
  }
  const others = claimants.filter((claim) => claim.pin !== pin).map(({what}) => what)
  const taken = [...(nodeExists ? ['a Node of that name exists'] : []), ...others]
  const why = `the name "${node}" is taken: ${taken.join(', and ')}`
  if (record === undefined || !isGranted(record, now)) return verdict(RULE, false, why)
  // Whoever asked first would get in, and that need not be whom the operator thinks of.
  return rivals > 0
    ? verdict(RULE, false, `${why}; a re-join is allowed, but ${rivals + 1} keys ask for it`)
    : verdict(RULE, true, `an operator allows one re-join${upTo(record.allowedUntil)}`)
}
