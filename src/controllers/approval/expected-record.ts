import type {ConfigMap} from '../../api/core.ts'
import {BACKDATE} from '../../pki/lifetimes.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
  withoutCertificate,
  withReservation,
  type IssuedIdentity,
} from './node-record.ts'

/** How much later than the real certificate the expected one may end. */
const TOLERANCE = 3 * BACKDATE

/**
 * The record of a new name, as if the certificate that is about to be approved were already issued. When it is issued,
 * nothing is left to write.
 */
export function expectedRecord(
  node: string,
  {pin, requester, issuer}: Pick<IssuedIdentity, 'pin' | 'issuer'> & {requester: string},
  lifetime: number,
  now: Date,
): ConfigMap {
  // A record counts whole seconds.
  const notAfter = new Date(Math.ceil((now.getTime() + lifetime + BACKDATE) / 1000) * 1000)
  // As the signer sets it: otherwise the next certificate of the name, of another key, would seem to be older than this one.
  const notBefore = new Date(Math.floor((now.getTime() - BACKDATE) / 1000) * 1000)
  const expected = {pin, notBefore, notAfter, issuer, requester}
  return recordIssued(emptyRecord(node), expected, now) ?? emptyRecord(node)
}

/** Whether the issued certificate is the one that the record expects. */
export function isAsExpected(record: ConfigMap, issued: IssuedIdentity): boolean {
  const {pin, notBefore, notAfter} = issued
  const {holder, issuer, issuedAt, until} = readRecord(record)
  // Which CA signs elsewhere is not known in advance, and not worth a write for every node that joins.
  if (holder !== pin || (issuer !== undefined && issuer !== issued.issuer)) return false
  if (issuedAt === undefined || until === undefined) return false
  const longer = until.getTime() - notAfter.getTime()
  const later = notBefore.getTime() - issuedAt.getTime()
  return Math.abs(later) <= BACKDATE && longer >= 0 && longer <= TOLERANCE
}

/**
 * The record after its expected certificate was not issued, or may not have been: the name stays reserved for the key for a
 * while.
 */
export const withoutExpected = (
  record: ConfigMap,
  asker: {pin: string; requester: string},
  now: Date,
): ConfigMap => withReservation(withoutCertificate(record), asker, now)
