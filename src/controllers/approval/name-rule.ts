import {isNodeName} from '../../csr/node-names.ts'
import {isUnknown, verdict, type RuleVerdict, type Unknown} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {isHeld, isKeyOf, liveGrant, reservedKey, type NodeRecord} from './node-record.ts'
import {describeGrant, lets, type Asker} from './rejoin-grant.ts'
import {formatTimestamp} from '../../runtime.ts'

/** A request of the same node name that was approved. */
export interface ApprovedRequest {
  name: string
  pin: string
  /** The validity of its certificate, once it is issued. */
  notBefore?: Date
  notAfter?: Date
}

/** Who may already have the name. */
export interface NameClaims {
  nodeExists: boolean
  record: NodeRecord | undefined
  /** Without the request itself. */
  approved: readonly ApprovedRequest[]
  /** A newer, undecided request of the same requester for another key. */
  newer: string | undefined
  /** The Machine that the name belongs to; absent for the approver that decides by Machines. */
  machine?: string | undefined
}

/** Whether the key is the one that the node asked for its newest certificate with, and that has not been seen in use. */
const isPrevious = ({pin}: Pick<RequestedCertificate, 'pin'>, record: NodeRecord | undefined) =>
  record?.previous?.pin === pin

/** The requester, besides the certificate that is requested. */
export type From = Pick<Asker, 'requester' | 'revision'>

interface Claim {
  pin: string
  what: string
}

const RULE = 'the node name is free, or held by the same key, or granted by an operator'

const upTo = (until: Date | undefined) =>
  until === undefined ? '' : ` until ${formatTimestamp(until)}`

function recordClaims(
  record: NodeRecord | undefined,
  {pin}: RequestedCertificate,
  now: Date,
): Claim[] {
  if (record?.holder === undefined) return []
  if (isPrevious({pin}, record)) {
    return [{pin, what: 'its newest certificate was never seen in use'}]
  }
  // The last holder of the name may have it again, even if its certificate has expired.
  if (!isHeld(record, now) && record.holder !== pin) return []
  return [{pin: record.holder, what: `a certificate for it is valid${upTo(record.until)}`}]
}

/** An expired certificate makes no claim. One that is in the record makes none besides the record's. */
function isLive({notBefore, notAfter}: ApprovedRequest, record: NodeRecord | undefined, now: Date) {
  if (notAfter !== undefined && notAfter <= now) return false
  return !(notBefore && record?.issuedAt && notBefore <= record.issuedAt && isHeld(record, now))
}

/** The keys that hold the name; the requesting key is one of them if it does. */
function claimantsOf(
  requested: RequestedCertificate,
  {record, approved}: NameClaims,
  now: Date,
): Claim[] {
  const live = approved.filter((one) => isLive(one, record, now))
  const reserved = record && reservedKey(record, now)
  const isSeen = reserved === undefined || live.some(({pin}) => pin === reserved)
  return [
    ...recordClaims(record, requested, now),
    ...live.map(({pin, name}) => ({pin, what: `request "${name}" of that name was approved`})),
    ...(isSeen ? [] : [{pin: reserved, what: 'it is kept for another key that is being approved'}]),
  ]
}

/**
 * Whether the name is reserved for the key, by an approval that was not completed. Older claims were checked at that time;
 * only later approvals count now.
 */
function isKeptFor(
  {pin}: RequestedCertificate,
  {record, approved}: NameClaims,
  now: Date,
): boolean {
  if (record === undefined || reservedKey(record, now) !== pin) return false
  return approved.every((one) => one.pin === pin || !isLive(one, record, now))
}

const NEWEST = "it is the requester's newest request for the node name"

/** A reinstalled kubelet asks with a new key: the request for its old key must not take the name. */
function newestRule({newer}: NameClaims): RuleVerdict {
  if (newer === undefined) return verdict('newest-request', NEWEST, true, 'there is no newer one')
  return verdict(
    'newest-request',
    NEWEST,
    false,
    `superseded by request "${newer}" of the same requester`,
  )
}

const FOR_INVENTORY = "the name is no Machine's: machine-approver decides on those"

/** The Machine vouches for a node's addresses: a join token must not be enough to become that node. */
function machineRule({machine}: NameClaims, node: string): RuleVerdict {
  return verdict(
    'machine-name',
    FOR_INVENTORY,
    machine === undefined,
    machine === undefined
      ? "it is no Machine's"
      : `the name "${node}" is that of Machine "${machine}", whose machine joins with a bootstrap credential ("trustadm bootstrap-credential create")`,
  )
}

/** Whether the key gets the name whatever else the requester asks for: it has the name, or an operator named the key. */
export const isSettled = (
  {pin}: RequestedCertificate,
  {record}: NameClaims,
  now: Date,
): boolean => {
  if (record === undefined) return false
  const {to} = liveGrant(record, now) ?? {}
  const isAllowed = to !== undefined && 'pin' in to && to.pin === pin
  return isAllowed || isPrevious({pin}, record) || isKeyOf(record, pin, now)
}

/**
 * Kubernetes approves for anyone with a bootstrap token, even with the name of an existing node, and so lets them act as
 * that node. Here a taken name is given only to the key that has it, or with an operator's grant.
 */
export function nameRules(
  requested: RequestedCertificate,
  from: From,
  claims: NameClaims | Unknown,
  now: Date,
): [name: RuleVerdict, ...others: RuleVerdict[]] {
  if (isUnknown(claims)) return [verdict('node-name', RULE, false, `not known: ${claims.unknown}`)]
  const name = nameRule(requested, from, claims, now)
  if (isSettled(requested, claims, now)) return [name]
  const grant = claims.record && liveGrant(claims.record, now)
  const isGranted = grant !== undefined && lets(grant, {pin: requested.pin, ...from})
  const others = isGranted ? [] : [machineRule(claims, requested.node ?? '')]
  return [name, newestRule(claims), ...others]
}

export function nameRule(
  requested: RequestedCertificate,
  from: From,
  claims: NameClaims,
  now: Date,
): RuleVerdict {
  const {node = '', pin} = requested
  if (!isNodeName(node))
    return verdict('node-name', RULE, false, `no node can have the name "${node}"`)

  const {record, nodeExists} = claims
  const claimants = claimantsOf(requested, claims, now)
  const grant = record && liveGrant(record, now)
  const isGranted = grant !== undefined && lets(grant, {pin, ...from})
  if (claimants.length === 0 && !nodeExists && (isGranted || grant === undefined)) {
    return verdict('node-name', RULE, true, `the name "${node}" is free`)
  }
  if (claimants.length > 0 && claimants.every((claim) => claim.pin === pin)) {
    const found = isPrevious({pin}, record)
      ? `the key that asks held the name "${node}" before the newest certificate, which was never seen in use`
      : `the key that asks holds the name "${node}"`
    return verdict('node-name', RULE, true, found)
  }
  if (isKeptFor(requested, claims, now)) {
    return verdict('node-name', RULE, true, `the name "${node}" is kept for the key that asks`)
  }
  if (isGranted) {
    const whom = 'pin' in grant.to ? 'this key' : `a request of "${from.requester}"`
    return verdict(
      'node-name',
      RULE,
      true,
      `an operator allows ${whom} to re-join${upTo(grant.until)}`,
    )
  }
  const others = claimants.filter((claim) => claim.pin !== pin).map(({what}) => what)
  const taken = [
    ...(nodeExists ? ['a Node of that name exists'] : []),
    ...others,
    ...(grant ? [`an operator allows only ${describeGrant(grant)}${upTo(grant.until)}`] : []),
  ]
  return verdict('node-name', RULE, false, `the name "${node}" is taken: ${taken.join(', and ')}`)
}
