import type {ApiClient} from '../../client/api-client.ts'
import {TrustError} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {
  LONGEST_REASON,
  keyRevocation,
  revokedPin,
  revokedSerial,
  serialRevocation,
  type Revocation,
  type RevocationId,
} from '../../trust/revocations.ts'
import type {KnownCertificate, LastEnds} from './known-certificates.ts'
import {addToList, extended, readList} from './list-store.ts'

/** An entry of the list, as commands show it. */
export interface RevocationReport {
  user: string | null
  /** The pin of the key, if all certificates of the key are revoked; null if only the one with the serial number is. */
  pin: string | null
  serial: string | null
  request: string | null
  /** When the last of the certificates expires; the entry is removed a good day later. Null if it stays. */
  expires: string | null
  revoked: string | null
  by: string | null
  reason: string | null
}

export const reportOn = ({id, ...details}: Revocation): RevocationReport => ({
  user: details.user ?? null,
  pin: revokedPin(id) ?? null,
  serial: details.serial ?? revokedSerial(id) ?? null,
  request: details.request ?? null,
  expires: details.expires ?? null,
  revoked: details.revoked ?? null,
  by: details.by ?? null,
  reason: details.reason ?? null,
})

export interface RevokeOptions {
  reason?: string | undefined
  /** Revoke the single certificates, not their keys. */
  keepKeys?: boolean | undefined
  /** Undefined if not all certificates of the keys are known: their entries stay for good. */
  ends: LastEnds | undefined
  dryRun?: boolean | undefined
}

export interface RevokedCertificates {
  revoked: RevocationReport[]
  /** Those that were on the list before. */
  unchanged: RevocationReport[]
}

/** By key if it is known: its holder could get another certificate for it, or may have one that is not known here. */
export function idOf({pin, serial, issuer, user}: KnownCertificate, keepKey = false): RevocationId {
  if (pin !== undefined && !keepKey) return keyRevocation(pin)
  if (serial !== undefined && issuer !== undefined) return serialRevocation(serial, issuer)
  throw new TrustError('USAGE', `only the key of "${user ?? pin ?? ''}" is known`, {
    hints: ['leave out --keep-key to revoke the key'],
  })
}

/** When an entry may go, in milliseconds: a key's must outlast every certificate of the key, not only those that were named. */
function endFor(
  id: RevocationId,
  {notAfter}: KnownCertificate,
  ends: LastEnds | undefined,
): number {
  const pin = revokedPin(id)
  if (notAfter === undefined || (pin !== undefined && ends === undefined)) return Infinity
  return Math.max(notAfter.getTime(), (pin === undefined ? undefined : ends?.(pin))?.getTime() ?? 0)
}

/** Of two certificates, the one that expires later. */
const isLater = (one: KnownCertificate, other: KnownCertificate | undefined): boolean =>
  other === undefined ||
  (one.notAfter?.getTime() ?? Infinity) > (other.notAfter?.getTime() ?? Infinity)

/**
 * What to put on the list: each key once, with the certificate that expires last. Further certificates of the key get entries of their own,
 * so that requests made with them are known, too.
 */
function chosen(
  certificates: readonly KnownCertificate[],
  keepKeys: boolean,
): Map<RevocationId, KnownCertificate> {
  const entries = new Map<RevocationId, KnownCertificate>()
  for (const one of certificates) {
    const id = idOf(one, keepKeys)
    if (isLater(one, entries.get(id))) entries.set(id, one)
  }
  for (const one of certificates) {
    const {serial, issuer, fingerprint} = one
    const isNamed = entries.get(idOf(one, keepKeys))?.fingerprint === fingerprint
    if (isNamed || serial === undefined || issuer === undefined) continue
    entries.set(serialRevocation(serial, issuer), one)
  }
  return entries
}

function entriesFor(
  certificates: readonly KnownCertificate[],
  {reason, keepKeys = false, ends}: RevokeOptions,
  about: Pick<Revocation, 'by' | 'revoked'>,
): Revocation[] {
  return Array.from(chosen(certificates, keepKeys), ([id, certificate]) => {
    const {user, serial, fingerprint, request} = certificate
    const end = endFor(id, certificate, ends)
    return {
      id,
      ...(user !== undefined && {user}),
      ...(serial !== undefined && {serial}),
      ...(fingerprint !== undefined && {fingerprint}),
      ...(request !== undefined && {request}),
      ...(end !== Infinity && {expires: formatTimestamp(new Date(end))}),
      ...(reason !== undefined && {reason}),
      ...about,
    }
  })
}

function requireReason(reason: string | undefined): void {
  if (reason === undefined || reason.length <= LONGEST_REASON) return
  throw new TrustError('USAGE', `the reason is longer than ${LONGEST_REASON} characters`, {
    hints: ['use a shorter one'],
  })
}

type Client = Pick<ApiClient, 'configMaps' | 'selfSubjectReviews'>

/** Who asks, by the server's word. */
export async function callerOf({
  selfSubjectReviews,
}: Pick<ApiClient, 'selfSubjectReviews'>): Promise<string | undefined> {
  const {status} = await selfSubjectReviews.create({metadata: {}})
  return status?.userInfo?.username
}

/** Puts certificates on the list. The server refuses them from then on, on open connections too. */
export async function revokeCertificates(
  client: Client,
  certificates: readonly KnownCertificate[],
  options: RevokeOptions,
  clock: Clock,
): Promise<RevokedCertificates> {
  requireReason(options.reason)
  const by = await callerOf(client)
  const about = {revoked: formatTimestamp(clock.now()), ...(by !== undefined && {by})}
  const entries = entriesFor(certificates, options, about)
  const before = (await readList(client)).flatMap(({revocations}) => revocations)
  const present = new Map(before.map((one) => [one.id, one]))
  const unchanged = entries.flatMap((entry) => {
    const one = present.get(entry.id)
    return one === undefined ? [] : [extended(one, entry)]
  })
  if (options.dryRun !== true) await addToList(client, entries)
  return {
    revoked: entries.filter(({id}) => !present.has(id)).map(reportOn),
    unchanged: unchanged.map(reportOn),
  }
}
