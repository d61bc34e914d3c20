import type {Asked} from './asked.ts'
import {
  isHeld,
  isKeyOf,
  isNodeName,
  liveGrant,
  reservedKey,
  type NodeRecord,
} from './node-record.ts'
import {verdict, type RuleVerdict} from './opinion.ts'
import {describeGrant, lets, type Asker} from './rejoin-grant.ts'
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
  /** A newer request of the same requester for another key, that nobody has decided on. */
  newer: string | undefined
}

/** Who asks, beyond what is asked for. */
type From = Pick<Asker, 'requester' | 'revision'>

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

const NEWEST = "it is the requester's newest request for the node name"

/** A kubelet that was set up again asks with a new key: the request of its old one must not take the name away from it. */
function newestRule({newer}: NameClaims): RuleVerdict {
  if (newer === undefined) return verdict(NEWEST, true, 'there is no newer one')
  return verdict(NEWEST, false, `superseded by request "${newer}" of the same requester`)
}

/** Whether the name goes to the key whatever else the requester asks for: it has it, or an operator has named it. */
const isSettled = ({pin}: Asked, {record}: NameClaims, now: Date): boolean => {
  if (record === undefined) return false
  const {to} = liveGrant(record, now) ?? {}
  return (to !== undefined && 'pin' in to && to.pin === pin) || isKeyOf(record, pin, now)
}

/**
 * Kubernetes approves for whoever holds a bootstrap token, also in the name of a node that is there: it could act as that
 * node. Here a name that is taken is given only to the key that has it, or by an operator's word.
 */
export function nameRules(
  asked: Asked,
  from: From,
  claims: NameClaims | Unknown,
  now: Date,
): [name: RuleVerdict, ...others: RuleVerdict[]] {
  if (isUnknown(claims)) return [verdict(RULE, false, `not known: ${claims.unknown}`)]
  const name = nameRule(asked, from, claims, now)
  return isSettled(asked, claims, now) ? [name] : [name, newestRule(claims)]
}

function nameRule(asked: Asked, from: From, claims: NameClaims, now: Date): RuleVerdict {
  const {node = '', pin} = asked
  if (!isNodeName(node)) return verdict(RULE, false, `no node can have the name "${node}"`)

  const {record, nodeExists} = claims
  const claimants = claimantsOf(asked, claims, now)
  const grant = record && liveGrant(record, now)
  const isGranted = grant !== undefined && lets(grant, {pin, ...from})
  if (claimants.length === 0 && !nodeExists && (isGranted || grant === undefined)) {
    return verdict(RULE, true, `the name "${node}" is free`)
  }
  if (claimants.length > 0 && claimants.every((claim) => claim.pin === pin)) {
    return verdict(RULE, true, `the key that asks holds the name "${node}"`)
  }
  if (isKeptFor(asked, claims, now)) {
    return verdict(RULE, true, `the name "${node}" is kept for the key that asks`)
  }
  if (isGranted) {
    const whom = 'pin' in grant.to ? 'this key' : `a request of "${from.requester}"`
    return verdict(RULE, true, `an operator allows ${whom} to re-join${upTo(grant.until)}`)
  }
  const others = claimants.filter((claim) => claim.pin !== pin).map(({what}) => what)
  const taken = [
    ...(nodeExists ? ['a Node of that name exists'] : []),
    ...others,
    ...(grant ? [`an operator allows only ${describeGrant(grant)}${upTo(grant.until)}`] : []),
  ]
  return verdict(RULE, false, `the name "${node}" is taken: ${taken.join(', and ')}`)
}
