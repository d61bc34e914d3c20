import {createHash} from 'node:crypto'
import type {ConfigMap} from '../../api/core.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {formatTimestamp} from '../../runtime.ts'
import {OWN_NAMESPACE} from '../../trust/own-namespace.ts'
import {issueTime} from '../../trust/revocations.ts'
import {
  keyBehind,
  previousKeyData,
  readPreviousKey,
  withoutPreviousKey,
  type PreviousKey,
  type RenewedWith,
} from './previous-key.ts'
import {readGrant, withoutGrant, type RejoinGrant} from './rejoin-grant.ts'

/**
 * One ConfigMap for each node name records which key holds its newest client certificate, long after its requests are deleted. Not a
 * Lease: by Kubernetes' default roles, kube-scheduler may create Leases in every namespace.
 */
export const RECORD_LABEL = 'trustadm.io/node-certificate'

/** An approved request that is not signed is deleted after a day. */
const RESERVATION = 25 * 3_600_000

/** Names that cannot be part of an object's name are replaced by their hash. */
export function recordName(node: string): string {
  const name = `trustadm-node.${node}`
  if (isNodeName(name)) return name
  return `trustadm-node-${createHash('sha256').update(node).digest('hex').slice(0, 32)}`
}

export const recordKey = (node: string) => ({namespace: OWN_NAMESPACE, name: recordName(node)})

/** Selects all records. */
export const ALL_RECORDS = {namespace: OWN_NAMESPACE, labelSelector: RECORD_LABEL}

/** A record as it is read. */
export interface NodeRecord {
  /** The pin of the key that the newest certificate is for; undefined if there was none yet. */
  holder: string | undefined
  /** The newest certificate's notBefore. */
  issuedAt: Date | undefined
  /** The name of the CA that signed it; undefined in records from before this was noted. */
  issuer: string | undefined
  /** When the last certificate expires; a date that cannot be read counts as never. */
  until: Date | undefined
  /** The key that the newest certificate was requested with, until that one has been seen in use. */
  previous: PreviousKey | undefined
  /** The requester to whom the name was last given; a node that renews its own certificate does not count. */
  requester: string | undefined
  /** When that was; undefined if it is not known. */
  givenAt: Date | undefined
  /** The operator's grant for the name. */
  grant: RejoinGrant | undefined
  /** The key that was about to be approved for the name; undefined once a certificate was issued. */
  reserved: {pin: string; until: Date} | undefined
  object: ConfigMap
}

/** What is recorded of an issued certificate. */
export interface IssuedIdentity {
  pin: string
  notBefore: Date
  notAfter: Date
  /** The name of the CA; undefined if it signs elsewhere and has not signed yet. */
  issuer?: string | undefined
  /** Undefined for a node that renewed its own. */
  requester?: string | undefined
  /** Of a node that renewed its own: what it has if it lost this one. */
  renewedWith?: RenewedWith | undefined
}

const timeOf = (text: string | undefined) => (text ? parseTimestamp(text) : undefined)

export function readRecord(object: ConfigMap): NodeRecord {
  const {holder, issuedAt, expiresAt, issuer, requester, ...data} = object.data ?? {}
  const reservedUntil = timeOf(data.reservedUntil)
  const {reservedFor: pin} = data
  return {
    holder: holder === '' ? undefined : holder,
    issuedAt: timeOf(issuedAt),
    issuer,
    until: timeOf(expiresAt),
    previous: readPreviousKey(object),
    requester,
    givenAt: timeOf(data.givenAt),
    grant: readGrant(object),
    reserved: pin && reservedUntil ? {pin, until: reservedUntil} : undefined,
    object,
  }
}

/** Whether a certificate for the name may still be in use. */
export const isHeld = ({holder, until}: NodeRecord, now: Date): boolean =>
  holder !== undefined && (until === undefined || until > now)

/** The grant that is valid now. */
export const liveGrant = ({grant}: NodeRecord, now: Date): RejoinGrant | undefined =>
  grant !== undefined && grant.until > now ? grant : undefined

/** The key that the name is reserved for now. */
export const reservedKey = ({reserved}: NodeRecord, now: Date): string | undefined =>
  reserved !== undefined && reserved.until > now ? reserved.pin : undefined

/** Whether no other key can get the name now: this one holds it, or it is reserved for this one. */
export const isKeyOf = (record: NodeRecord, pin: string, now: Date): boolean =>
  reservedKey(record, now) === pin || (isHeld(record, now) && record.holder === pin)

/** The name that a record is about. */
export const nodeOf = ({data}: ConfigMap): string => data?.node ?? ''

/** Whether the name is free: all its certificates have expired, and it is not reserved. */
export function isAbandoned(record: NodeRecord, now: Date): boolean {
  const {creationTimestamp} = record.object.metadata
  // A new record may be about to be filled in.
  const isNew = !creationTimestamp || now.getTime() - Date.parse(creationTimestamp) < RESERVATION
  return (
    !isNew &&
    !isHeld(record, now) &&
    reservedKey(record, now) === undefined &&
    liveGrant(record, now) === undefined
  )
}

/** An empty record: nobody holds the name. */
export const emptyRecord = (node: string): ConfigMap => ({
  metadata: {...recordKey(node), labels: {[RECORD_LABEL]: ''}},
  data: {node},
})

const withData = (object: ConfigMap, data: Record<string, string>): ConfigMap => ({
  ...object,
  metadata: {...object.metadata, labels: {...object.metadata.labels, [RECORD_LABEL]: ''}},
  data,
})

/** The record without what it says about a certificate. */
export function withoutCertificate(object: ConfigMap): ConfigMap {
  const {
    holder: _holder,
    issuedAt: _from,
    expiresAt: _to,
    issuer: _issuer,
    givenAt: _given,
    ...data
  } = withoutPreviousKey(object.data)
  return withData(object, data)
}

/** To whom a name was given last, and when, whatever has become of that certificate since, and in whatever order certificates are seen. */
function lastGiven(
  before: Pick<NodeRecord, 'requester' | 'givenAt'>,
  {requester, notBefore}: Pick<IssuedIdentity, 'requester' | 'notBefore'>,
): Pick<NodeRecord, 'requester' | 'givenAt'> {
  const {givenAt} = before
  if (requester === undefined) return {requester: before.requester, givenAt}
  const at = issueTime(notBefore)
  return givenAt !== undefined && givenAt >= at
    ? {requester: before.requester, givenAt}
    : {requester, givenAt: at}
}

const givenData = ({requester, givenAt}: Pick<NodeRecord, 'requester' | 'givenAt'>) => ({
  ...(requester !== undefined && {requester}),
  ...(givenAt !== undefined && {givenAt: formatTimestamp(givenAt)}),
})

/**
 * The record with an issued certificate; undefined if nothing changes. A certificate older than the recorded one does not
 * change the holder. The name is held until the last certificate expires. The reservation is removed. Of one that has expired, what stays is that
 * the name was given away by it: others were renewed with it, perhaps.
 */
export function recordIssued(
  object: ConfigMap,
  {pin, notBefore, notAfter, requester, issuer, renewedWith}: IssuedIdentity,
  now: Date,
): ConfigMap | undefined {
  const before = readRecord(object)
  const given = lastGiven(before, {requester, notBefore})
  const isGivenSame = before.givenAt?.getTime() === given.givenAt?.getTime()
  if (notAfter <= now) {
    return isGivenSame ? undefined : withData(object, {...object.data, ...givenData(given)})
  }
  const held = isHeld(before, now)
  const isOlder = held && before.issuedAt !== undefined && before.issuedAt > notBefore
  const until = held && before.until && before.until > notAfter ? before.until : notAfter
  const holder = isOlder ? before.holder : pin
  const issuedAt = isOlder ? before.issuedAt : notBefore
  const signedBy = isOlder ? before.issuer : issuer
  const isSame = before.holder === pin && before.issuedAt?.getTime() === notBefore.getTime()
  const behind = isOlder || isSame ? before.previous : keyBehind(renewedWith, before)
  const previous = behind?.pin === holder ? undefined : behind
  const says =
    held &&
    before.holder === holder &&
    before.issuedAt?.getTime() === issuedAt?.getTime() &&
    before.until?.getTime() === until.getTime() &&
    before.requester === given.requester &&
    isGivenSame &&
    before.issuer === signedBy &&
    before.previous?.pin === previous?.pin &&
    before.previous?.credential === previous?.credential &&
    before.reserved === undefined
  if (says) return undefined
  const {reservedFor: _pin, reservedUntil: _until, ...data} = withoutCertificate(object).data ?? {}
  return withData(object, {
    ...data,
    ...(holder !== undefined && {holder}),
    ...(issuedAt !== undefined && {issuedAt: formatTimestamp(issuedAt)}),
    expiresAt: formatTimestamp(until),
    ...givenData(given),
    ...(signedBy !== undefined && {issuer: signedBy}),
    ...(previous && previousKeyData(previous)),
  })
}

/** The record once the newest certificate has been seen in use; undefined if it says so already. */
export const withNewestInUse = (object: ConfigMap): ConfigMap | undefined =>
  readPreviousKey(object) && withData(object, withoutPreviousKey(object.data))

/**
 * The record with the name reserved for a key that is about to be approved. This removes the grant, which is good for one
 * machine.
 */
export function withReservation(
  object: ConfigMap,
  {pin, requester}: {pin: string; requester: string},
  now: Date,
): ConfigMap {
  const reservedUntil = formatTimestamp(new Date(now.getTime() + RESERVATION))
  const free = withoutGrant(object)
  return withData(free, {...free.data, requester, reservedFor: pin, reservedUntil})
}
