import type {ApiClient} from '../../client/api-client.ts'
import {TrustError} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {
  LONGEST_REASON,
  keyRevocation,
  revokedPin,
  revokedUntil,
  revokedSerial,
  serialRevocation,
  userRevocation,
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
  /** Until when everything of the user is revoked; absent if it is about one key or certificate. */
  until?: string
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
  ...untilOf(id),
})

const untilOf = (id: RevocationId): Pick<RevocationReport, 'until'> => {
  const until = revokedUntil(id)
  return until === undefined ? {} : {until: formatTimestamp(until)}
}

/** Users of whom everything may be revoked at once. */
interface WholeUsers {
  includes: (user: string) => boolean
  /** The pins of keys that they keep. */
  spared?: (user: string) => readonly string[]
  /** Further ones, all of whose requests are revoked. */
  requesters?: readonly string[]
}

export interface RevokeOptions {
  reason?: string | undefined
  /** Revoke the single certificates, not their keys. */
  keepKeys?: boolean | undefined
  /** Undefined if not all certificates of the keys are known: their entries stay for good. */
  ends: LastEnds | undefined
  /** Absent: nobody's; each certificate gets an entry. */
  whole?: WholeUsers | undefined
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

/** So many certificates of one user, and so many at once, get entries of their own; of users with more, everything is revoked by one entry. */
const MOST_OF_USER = 32
const MOST_AT_ONCE = 256

interface Split {
  single: KnownCertificate[]
  /** By user, all certificates of those with more. */
  whole: Map<string, KnownCertificate[]>
}

/** The newest ones are named: how much earlier than now they began is not certain. */
function split(
  certificates: readonly KnownCertificate[],
  {includes}: Pick<WholeUsers, 'includes'> = {includes: () => false},
): Split {
  const began = ({notBefore}: KnownCertificate) => notBefore?.getTime() ?? Infinity
  const newest = [...certificates].sort((one, other) =>
    began(one) === began(other) ? 0 : began(other) - began(one),
  )
  const single = new Set<KnownCertificate>()
  const counts = new Map<string, number>()
  const more = new Set<string>()
  for (const one of newest) {
    const {user = ''} = one
    const count = counts.get(user) ?? 0
    if (includes(user) && (count >= MOST_OF_USER || single.size >= MOST_AT_ONCE)) more.add(user)
    else single.add(one)
    counts.set(user, count + 1)
  }
  const whole = new Map(Array.from(more, (user): [string, KnownCertificate[]] => [user, []]))
  for (const one of certificates) whole.get(one.user ?? '')?.push(one)
  return {single: certificates.filter((one) => single.has(one)), whole}
}

/** Requests wait for a day at most, approved ones too. */
const LONGEST_REQUEST = 2 * 86_400_000
/** Pins of a key and a space between them: what an entry has room for. */
export const MOST_SPARED = 8

/** One entry for each user; short, for there may be tens of thousands. */
function userEntries(
  {whole: users}: Split,
  {ends, whole: {spared, requesters = []} = {includes: () => true}}: RevokeOptions,
  until: Date,
): Revocation[] {
  const ofUsers = Array.from(users, ([user, certificates]): Revocation => {
    const last = Math.max(...certificates.map(({notAfter}) => notAfter?.getTime() ?? Infinity))
    const kept = (spared?.(user) ?? [])
      .slice(0, MOST_SPARED)
      .map((pin) => pin.slice('sha256:'.length))
    return {
      id: userRevocation(user, until),
      user,
      ...(ends && last !== Infinity && {expires: formatTimestamp(new Date(last))}),
      ...(kept.length > 0 && {spared: kept.join(' ')}),
    }
  })
  const expires = formatTimestamp(new Date(until.getTime() + LONGEST_REQUEST))
  const ofRequesters = requesters.map((user) => ({id: userRevocation(user, until), user, expires}))
  return [...ofUsers, ...ofRequesters]
}

function entriesFor(
  certificates: readonly KnownCertificate[],
  options: RevokeOptions,
  about: Pick<Revocation, 'by' | 'revoked'>,
  until: Date,
): Revocation[] {
  const {reason, keepKeys = false, ends, whole} = options
  const parts = split(certificates, whole)
  const single = Array.from(chosen(parts.single, keepKeys), ([id, certificate]) => {
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
  const ofUsers = userEntries(parts, options, until)
  const isShort = ofUsers.length > MOST_OF_USER
  const details = {...about, ...(reason !== undefined && {reason})}
  return [...single, ...ofUsers.map((one) => (isShort ? one : {...one, ...details}))]
}

function requireReason(reason: string | undefined): void {
  if (reason === undefined || reason.length <= LONGEST_REASON) return
  throw new TrustError('USAGE', `the reason is longer than ${LONGEST_REASON} characters`, {
    hints: ['use a shorter one'],
  })
}

type Client = Pick<ApiClient, 'configMaps' | 'selfSubjectReviews'>

/** Who asks, and what time it is, by the server's word. */
export async function callerOf({
  selfSubjectReviews,
}: Pick<ApiClient, 'selfSubjectReviews'>): Promise<{by?: string; now?: Date}> {
  const {status, metadata} = await selfSubjectReviews.create({metadata: {}})
  const {username} = status?.userInfo ?? {}
  const {creationTimestamp} = metadata
  return {
    ...(username !== undefined && {by: username}),
    ...(creationTimestamp && {now: new Date(creationTimestamp)}),
  }
}

/** Puts certificates on the list. The server refuses them from then on, on open connections too. */
export async function revokeCertificates(
  client: Client,
  certificates: readonly KnownCertificate[],
  options: RevokeOptions,
  clock: Clock,
): Promise<RevokedCertificates> {
  requireReason(options.reason)
  const {by, now = clock.now()} = await callerOf(client)
  const about = {revoked: formatTimestamp(clock.now()), ...(by !== undefined && {by})}
  const entries = entriesFor(certificates, options, about, now)
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
