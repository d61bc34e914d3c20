import {createHash} from 'node:crypto'
import type {Lease} from '../../api/coordination.ts'
import {formatMicroTime, formatTimestamp, parseTimestamp} from '../../bootstrap/timestamp.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {BACKDATE} from '../../pki/lifetimes.ts'
import {readGrant, withoutGrant, type RejoinGrant} from './rejoin-grant.ts'

/** One Lease a node name says which key holds its newest client certificate, long after its requests are cleaned away. */
export const RECORD_NAMESPACE = 'kube-system'
export const RECORD_LABEL = 'trustadm.io/node-certificate'
const NODE_ANNOTATION = 'trustadm.io/node-name'
const REQUESTER = 'trustadm.io/requester'
const RESERVED_FOR = 'trustadm.io/reserved-for'
const RESERVED_UNTIL = 'trustadm.io/reserved-until'

const MOST_SECONDS = 2 ** 31 - 1
/** An approved request that nobody signs is cleaned away after a day. */
const RESERVATION = 25 * 3_600_000

/** Names that cannot be part of a Lease's are there by their hash. */
export function recordName(node: string): string {
  const name = `trustadm-node.${node}`
  if (isNodeName(name)) return name
  return `trustadm-node-${createHash('sha256').update(node).digest('hex').slice(0, 32)}`
}

export const recordKey = (node: string) => ({namespace: RECORD_NAMESPACE, name: recordName(node)})

/** A record as it is read. */
export interface NodeRecord {
  /** The pin of the key that the newest certificate is for; undefined if there was none yet. */
  holder: string | undefined
  /** The newest certificate's notBefore. */
  issuedAt: Date | undefined
  /** When the last certificate expires; one that cannot be read does not. */
  until: Date | undefined
  /** Who asked when the name was given last; a node that renews its own certificate does not count. */
  requester: string | undefined
  /** Whom an operator lets have the name. */
  grant: RejoinGrant | undefined
  /** The key that was about to be approved for the name; undefined once a certificate was issued. */
  reserved: {pin: string; until: Date} | undefined
  lease: Lease
}

/** What of an issued certificate is kept. */
export interface IssuedIdentity {
  pin: string
  notBefore: Date
  notAfter: Date
  /** Undefined for a node that renewed its own. */
  requester?: string | undefined
}

const timeOf = (text: string | undefined) => (text ? parseTimestamp(text) : undefined)

export function readRecord(lease: Lease): NodeRecord {
  const {holderIdentity, acquireTime, renewTime, leaseDurationSeconds} = lease.spec ?? {}
  const {annotations = {}} = lease.metadata
  const renewed = timeOf(renewTime)
  const reservedUntil = timeOf(annotations[RESERVED_UNTIL])
  const {[RESERVED_FOR]: pin} = annotations
  return {
    holder: holderIdentity === '' ? undefined : holderIdentity,
    issuedAt: timeOf(acquireTime),
    until:
      renewed === undefined || leaseDurationSeconds === undefined
        ? undefined
        : new Date(renewed.getTime() + leaseDurationSeconds * 1000),
    requester: annotations[REQUESTER],
    grant: readGrant(lease),
    reserved: pin && reservedUntil ? {pin, until: reservedUntil} : undefined,
    lease,
  }
}

/** Whether a certificate for the name may still be in use. */
export const isHeld = ({holder, until}: NodeRecord, now: Date): boolean =>
  holder !== undefined && (until === undefined || until > now)

/** The grant that is in force now. */
export const liveGrant = ({grant}: NodeRecord, now: Date): RejoinGrant | undefined =>
  grant !== undefined && grant.until > now ? grant : undefined

/** The key that the name is kept for now. */
export const reservedKey = ({reserved}: NodeRecord, now: Date): string | undefined =>
  reserved !== undefined && reserved.until > now ? reserved.pin : undefined

/** Whether no other key can be given the name now: it is held by this one, or kept for it. */
export const isKeyOf = (record: NodeRecord, pin: string, now: Date): boolean =>
  reservedKey(record, now) === pin || (isHeld(record, now) && record.holder === pin)

/** The name that a record is about. */
export const nodeOf = ({metadata}: Lease): string => metadata.annotations?.[NODE_ANNOTATION] ?? ''

/** Whether nobody has the name, nor is about to: all its certificates have expired, and it is kept for nobody. */
export function isAbandoned(record: NodeRecord, now: Date): boolean {
  const {creationTimestamp} = record.lease.metadata
  // One that was just made may be somebody's next step.
  const isNew = !creationTimestamp || now.getTime() - Date.parse(creationTimestamp) < RESERVATION
  return (
    !isNew &&
    !isHeld(record, now) &&
    reservedKey(record, now) === undefined &&
    liveGrant(record, now) === undefined
  )
}

/** The record's Lease, empty: nobody holds the name. */
export const emptyRecord = (node: string): Lease => ({
  metadata: {
    ...recordKey(node),
    labels: {[RECORD_LABEL]: ''},
    annotations: {[NODE_ANNOTATION]: node},
  },
  spec: {},
})

/** How far the end of an expected certificate may lie behind that of the real one. */
const TOLERANCE = 3 * BACKDATE

/**
 * The record of a name that nobody has, with a certificate that is about to be approved as if it was issued already. Once that
 * is so there is nothing left to write.
 */
export function expectedRecord(
  node: string,
  {pin, requester}: {pin: string; requester: string},
  lifetime: number,
  now: Date,
): Lease {
  // A Lease counts whole seconds.
  const notAfter = new Date(Math.ceil((now.getTime() + lifetime + BACKDATE) / 1000) * 1000)
  const expected = {pin, notBefore: now, notAfter, requester}
  return recordIssued(emptyRecord(node), expected, now) ?? emptyRecord(node)
}

/** Whether the certificate that was issued is the one that the record expected. */
export function isAsExpected(lease: Lease, {pin, notBefore, notAfter}: IssuedIdentity): boolean {
  const {holder, issuedAt, until} = readRecord(lease)
  if (holder !== pin || issuedAt === undefined || until === undefined) return false
  const longer = until.getTime() - notAfter.getTime()
  return notBefore <= issuedAt && longer >= 0 && longer <= TOLERANCE
}

/** The record of a name whose expected certificate was not issued, or is not known to be: kept for the key, for a while. */
export const withoutExpected = (
  lease: Lease,
  asker: {pin: string; requester: string},
  now: Date,
): Lease => ({...withReservation(lease, asker, now), spec: {}})

/**
 * The record once a certificate was issued; undefined if it says so already. An older certificate than the recorded one
 * changes the holder no more, and the name is held until the last of them expires. A reservation has served its purpose.
 */
export function recordIssued(
  lease: Lease,
  {pin, notBefore, notAfter, requester}: IssuedIdentity,
  time: Date,
): Lease | undefined {
  const now = new Date(Math.floor(time.getTime() / 1000) * 1000)
  if (notAfter <= now) return undefined
  const before = readRecord(lease)
  const held = isHeld(before, now)
  const isOlder = held && before.issuedAt !== undefined && before.issuedAt > notBefore
  const until = held && before.until && before.until > notAfter ? before.until : notAfter
  const holder = isOlder ? before.holder : pin
  const issuedAt = isOlder ? before.issuedAt : notBefore
  const from = (isOlder ? undefined : requester) ?? before.requester
  const says =
    held &&
    before.holder === holder &&
    before.issuedAt?.getTime() === issuedAt?.getTime() &&
    before.until?.getTime() === until.getTime() &&
    before.requester === from &&
    before.reserved === undefined
  if (says) return undefined
  const {
    [RESERVED_FOR]: _pin,
    [RESERVED_UNTIL]: _until,
    ...annotations
  } = lease.metadata.annotations ?? {}
  return {
    ...lease,
    metadata: {
      ...lease.metadata,
      labels: {...lease.metadata.labels, [RECORD_LABEL]: ''},
      annotations: {...annotations, ...(from === undefined ? {} : {[REQUESTER]: from})},
    },
    spec: {
      ...lease.spec,
      ...(holder === undefined ? {} : {holderIdentity: holder}),
      ...(issuedAt === undefined ? {} : {acquireTime: formatMicroTime(issuedAt)}),
      renewTime: formatMicroTime(now),
      leaseDurationSeconds: Math.min((until.getTime() - now.getTime()) / 1000, MOST_SECONDS),
    },
  }
}

/** The record with the name kept for a key that is about to be approved. That uses a grant up: it lets one machine in. */
export function withReservation(
  lease: Lease,
  {pin, requester}: {pin: string; requester: string},
  now: Date,
): Lease {
  const {metadata, ...rest} = withoutGrant(lease)
  return {
    ...rest,
    metadata: {
      ...metadata,
      labels: {...metadata.labels, [RECORD_LABEL]: ''},
      annotations: {
        ...metadata.annotations,
        [REQUESTER]: requester,
        [RESERVED_FOR]: pin,
        [RESERVED_UNTIL]: formatTimestamp(new Date(now.getTime() + RESERVATION)),
      },
    },
  }
}
