import type {ConfigMap} from '../../api/core.ts'
import {type Node, TRUST_REPORT} from '../../api/node.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {formatTimestamp} from '../../runtime.ts'

/**
 * The key with which a node asked for its newest certificate. If that one was never stored, on a full disk or because the agent was killed, this is
 * the only key that the node has: it may have its name back until the newest one has been seen in use.
 */
export interface PreviousKey {
  pin: string
  /** The notBefore of its certificate; undefined if that is not known. */
  issuedAt: Date | undefined
  /** When its last certificate has expired for sure. */
  until: Date | undefined
  /** The credential-id of its certificate; undefined if the server did not record it. */
  credential: string | undefined
}

/** With what a node asked for a certificate of its own. */
export interface RenewedWith {
  /** The pin of the key; only trustadm's server records it. */
  pin: string | undefined
  /** The credential-id of the certificate. */
  credential: string | undefined
}

/** What a record says about the newest certificate before one more is recorded. */
interface Before {
  holder: string | undefined
  issuedAt: Date | undefined
  until: Date | undefined
  previous: PreviousKey | undefined
}

/**
 * The key that a renewal leaves behind. Several renewals in a row that were all lost were asked for with the same key, which stays. A server that
 * does not name the key names the certificate: if it is not the one of the last renewal, then what that renewal issued is in use.
 */
export function keyBehind(
  renewedWith: RenewedWith | undefined,
  {holder, issuedAt, until, previous}: Before,
): PreviousKey | undefined {
  const {pin, credential} = renewedWith ?? {}
  if (pin === undefined && credential === undefined) return undefined
  const isSameAsBefore =
    pin === undefined ? previous?.credential === credential : previous?.pin === pin
  if (previous && isSameAsBefore) return {...previous, credential}
  if (pin !== undefined && pin !== holder) return {pin, issuedAt: undefined, until, credential}
  return holder === undefined ? undefined : {pin: holder, issuedAt, until, credential}
}

const timeOf = (text: string | undefined) => (text ? parseTimestamp(text) : undefined)

export function readPreviousKey({data = {}}: ConfigMap): PreviousKey | undefined {
  const {previousKey: pin, previousIssuedAt, previousExpiresAt, previousCredential} = data
  if (!pin) return undefined
  return {
    pin,
    issuedAt: timeOf(previousIssuedAt),
    until: timeOf(previousExpiresAt),
    credential: previousCredential,
  }
}

/** The data of a record without it. */
export function withoutPreviousKey(data: Record<string, string> = {}): Record<string, string> {
  const {
    previousKey: _pin,
    previousIssuedAt: _from,
    previousExpiresAt: _to,
    previousCredential: _credential,
    ...rest
  } = data
  return rest
}

/** What a record says about it. */
export const previousKeyData = ({
  pin,
  issuedAt,
  until,
  credential,
}: PreviousKey): Record<string, string> => ({
  previousKey: pin,
  ...(issuedAt && {previousIssuedAt: formatTimestamp(issuedAt)}),
  ...(until && {previousExpiresAt: formatTimestamp(until)}),
  ...(credential !== undefined && {previousCredential: credential}),
})

/** A report that is longer is not read. */
const LONGEST_REPORT = 16 * 1024

/** When the certificate was issued that a node reports to use: its notBefore. */
function reportedIssue({metadata: {annotations}}: Node): Date | undefined {
  const text = annotations?.[TRUST_REPORT]
  if (text === undefined || text.length > LONGEST_REPORT) return undefined
  try {
    const {client} = JSON.parse(text) as {client?: {notBefore?: unknown}}
    return typeof client?.notBefore === 'string' ? parseTimestamp(client.notBefore) : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a Node shows that the newest certificate of its name is in use: "node run" reports it, and a kubelet was alive when every older one had
 * expired. Only the node itself writes either, with a certificate of its own.
 */
export function showsNewestInUse(
  node: Node | undefined,
  {issuedAt, previous}: Pick<Before, 'issuedAt' | 'previous'>,
): boolean {
  if (node === undefined) return false
  const reported = reportedIssue(node)
  if (reported && issuedAt && reported >= issuedAt) return true
  const {until} = previous ?? {}
  if (until === undefined) return false
  const beats = (node.status?.conditions ?? []).map(({lastHeartbeatTime}) =>
    timeOf(lastHeartbeatTime),
  )
  return beats.some((beat) => beat !== undefined && beat > until)
}
