import {createHash} from 'node:crypto'
import type {Lease} from '../../api/coordination.ts'
import {formatMicroTime, parseTimestamp} from '../../bootstrap/timestamp.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {readGrant, withoutGrant, type RejoinGrant} from './rejoin-grant.ts'
import {formatTimestamp} from '../../runtime.ts'

/** One Lease for each node name records which key holds its newest client certificate, long after its requests are deleted. */
export const RECORD_NAMESPACE = 'kube-system'
export const RECORD_LABEL = 'trustadm.io/node-certificate'
const NODE_ANNOTATION = 'trustadm.io/node-name'
const REQUESTER = 'trustadm.io/requester'
export const ISSUER = 'trustadm.io/issuer'
const RESERVED_FOR = 'trustadm.io/reserved-for'
const RESERVED_UNTIL = 'trustadm.io/reserved-until'

const MOST_SECONDS = 2 ** 31 - 1
/** An approved request that is not signed is deleted after a day. */
const RESERVATION = 25 * 3_600_000

/** Names that cannot be part of a Lease's name are replaced by their hash. */
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
  /** The name of the CA that signed it; undefined in records from before this was noted. */
  issuer: string | undefined
  /** When the last certificate expires; a date that cannot be read counts as never. */
  until: Date | undefined
  /** The requester to whom the name was last given; a node that renews its own certificate does not count. */
  requester: string | undefined
  /** The operator's grant for the name. */
  grant: RejoinGrant | undefined
  /** The key that was about to be approved for the name; undefined once a certificate was issued. */
  reserved: {pin: string; until: Date} | undefined
  lease: Lease
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
    issuer: annotations[ISSUER],
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
export const nodeOf = ({metadata}: Lease): string => metadata.annotations?.[NODE_ANNOTATION] ?? ''

/** Whether the name is free: all its certificates have expired, and it is not reserved. */
export function isAbandoned(record: NodeRecord, now: Date): boolean {
  const {creationTimestamp} = record.lease.metadata
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
export const emptyRecord = (node: string): Lease => ({
  metadata: {
    ...recordKey(node),
    labels: {[RECORD_LABEL]: ''},
    annotations: {[NODE_ANNOTATION]: node},
  },
  spec: {},
})

/**
 * The record with an issued certificate; undefined if nothing changes. A certificate older than the recorded one does not
 * change the holder. The name is held until the last certificate expires. The reservation is removed.
 */
export function recordIssued(
  lease: Lease,
  {pin, notBefore, notAfter, requester, issuer}: IssuedIdentity,
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
  const signedBy = isOlder ? before.issuer : issuer
  const from = (isOlder ? undefined : requester) ?? before.requester
  const says =
    held &&
    before.holder === holder &&
    before.issuedAt?.getTime() === issuedAt?.getTime() &&
    before.until?.getTime() === until.getTime() &&
    before.requester === from &&
    before.issuer === signedBy &&
    before.reserved === undefined
  if (says) return undefined
  const {
    [RESERVED_FOR]: _pin,
    [RESERVED_UNTIL]: _until,
    [ISSUER]: _issuer,
    ...annotations
  } = lease.metadata.annotations ?? {}
  return {
    ...lease,
    metadata: {
      ...lease.metadata,
      labels: {...lease.metadata.labels, [RECORD_LABEL]: ''},
      annotations: {
        ...annotations,
        ...(from !== undefined && {[REQUESTER]: from}),
        ...(signedBy !== undefined && {[ISSUER]: signedBy}),
      },
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

/**
 * The record with the name reserved for a key that is about to be approved. This removes the grant, which is good for one
 * machine.
 */
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
