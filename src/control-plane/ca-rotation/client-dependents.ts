import type {StoredClient} from '../../server/authn/seen-clients.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import {issueTime} from '../../trust/revocations.ts'
import {CLIENT_CA} from '../certificates.ts'
import type {IssuedCertificate} from '../issued-clients.ts'
import {
  type Dependent,
  type DependentOptions,
  type Evidence,
  partsOf,
  todoOfNode,
} from './dependent.ts'
import {UNREGISTERED_NODES} from './groups.ts'
import type {Journal} from './journal.ts'
import {formatTimestamp} from '../../runtime.ts'

/** What leaves with a generation of the CA of clients. */
const leaving = ({units}: Journal, on: DependentOptions['on']) => partsOf(units, CLIENT_CA, on)

/** For so long a program may still use its old connections after it has got something new. */
const OVERLAP = 5 * 60_000

interface UseOptions extends Pick<DependentOptions, 'on' | 'now' | 'unseenFor'> {
  /** The keys of the generation. */
  pins: ReadonlySet<string>
  /** Whose the certificate or token is, if that is sure; undefined if another one may be somebody else's. */
  holderOf: (one: StoredClient) => string | undefined
}

/**
 * Those that were used and depend on these keys, without those whose holder came back with another one and does not use the old one any
 * more. After an abort, holders go back to what they had before.
 */
export function stillUsed(
  seen: readonly StoredClient[],
  {pins, holderOf, on, now, unseenFor = Infinity}: UseOptions,
): StoredClient[] {
  const others = new Map<string, StoredClient[]>()
  for (const one of seen) {
    const holder = holderOf(one)
    if (pins.has(one.issuerPin) || holder === undefined) continue
    const found = others.get(holder)
    if (found) found.push(one)
    else others.set(holder, [one])
  }
  const hasReturned = (one: StoredClient) =>
    (others.get(holderOf(one) ?? '') ?? []).some(
      ({firstSeen, lastSeen}) =>
        lastSeen > one.lastSeen &&
        (on === 'new' || Date.parse(one.lastSeen) - Date.parse(firstSeen) <= OVERLAP),
    )
  return seen.filter((one) => {
    if (!pins.has(one.issuerPin) || Date.parse(one.notAfter) <= now.getTime()) return false
    if (now.getTime() - Date.parse(one.lastSeen) > unseenFor) return false
    return !hasReturned(one)
  })
}

const namesOf = ({nodes}: Evidence): Set<string | undefined> =>
  new Set(nodes.map(({metadata}) => metadata.name))

/** When each user was last seen with a certificate of another CA: for a person to judge, it proves nothing. */
function seenWithOthers(
  seen: readonly StoredClient[],
  pins: ReadonlySet<string>,
): (user: string) => string {
  const last = new Map<string, string>()
  for (const {user, issuerPin, lastSeen} of seen) {
    if (!pins.has(issuerPin) && lastSeen > (last.get(user) ?? '')) last.set(user, lastSeen)
  }
  return (user) => {
    const time = last.get(user)
    return time === undefined
      ? ''
      : `; the user was seen with another CA's certificate at ${formatTimestamp(new Date(time))}`
  }
}

/** The group of a machine that has no Node: many of them may have come and gone. */
const groupOf = (
  user: string,
  names: ReadonlySet<string | undefined>,
): Pick<Dependent, 'group'> => {
  const node = nodeOfUser(user)
  return node === undefined || names.has(node) ? {} : {group: UNREGISTERED_NODES}
}

/**
 * Whether the Node of a user was deleted after what was last known of the user: then the machine is gone. One that is alive is seen again. Times
 * in certificates are whole seconds.
 */
function goneWithNodes({seen}: Evidence): (user: string, known: Date) => boolean {
  const deleted = new Map<string, number>()
  for (const {name, time} of seen?.deletedNodes ?? []) {
    const second = Math.floor(Date.parse(time) / 1000) * 1000
    deleted.set(name, Math.max(deleted.get(name) ?? 0, second))
  }
  return (user, known) => known.getTime() < (deleted.get(nodeOfUser(user) ?? '') ?? 0)
}

/** As `--ignore` takes it. */
const REPLACED_HERE = 'replaced-here'

/**
 * The kubeconfigs and certificates that the rotation has replaced in the folders of the control plane. Nobody knows who has copies of what was there, so a
 * person has to say once that there are none. Copies that were used since are clients of their own.
 */
export function replacedDependents(
  journal: Journal,
  {seen}: Evidence,
  {on, now, unseenFor}: DependentOptions,
): Dependent[] {
  const {units, renewedAt} = journal
  const end = units.find(({id}) => id === CLIENT_CA)?.old.notAfter
  const isOver = end !== undefined && Date.parse(end) <= now.getTime()
  if (on === 'new' || isOver || leaving(journal, on).pins.size === 0 || renewedAt === undefined)
    return []
  const isGone =
    unseenFor !== undefined &&
    seen !== undefined &&
    now.getTime() - Math.max(Date.parse(renewedAt), Date.parse(seen.since)) > unseenFor
  if (isGone) return []
  return [
    {
      kind: 'replaced',
      name: REPLACED_HERE,
      reasons: [
        'the rotation has replaced admin.conf and the other kubeconfigs and client certificates in the folder of the control plane: copies of the old ones will be refused',
      ],
      todo: `replace copies of admin.conf and super-admin.conf that you have elsewhere; then go on with --ignore ${REPLACED_HERE}`,
    },
  ]
}

/** The certificates of the generation that were used. */
export function clientDependents(
  journal: Journal,
  evidence: Evidence,
  options: DependentOptions,
): Dependent[] {
  const {on, own} = options
  const {seen, issued, revoked} = evidence
  const names = namesOf(evidence)
  const isNode = (user: string) => names.has(nodeOfUser(user) ?? '')
  // The name of a node belongs to one key at a time. An abort puts the files of the control plane back in their place.
  const holderOf = ({user, address, userAgent}: StoredClient) =>
    isNode(user)
      ? user
      : on === 'new' && own.has(user)
        ? `${user}\n${address}\n${userAgent}`
        : undefined
  const todoOf = (user: string) => {
    const node = nodeOfUser(user)
    return node !== undefined && names.has(node)
      ? todoOfNode(node)
      : `give ${user} a new certificate or kubeconfig; once the old one is out of use, revoke it with "trustadm certificate revoke", or use --ignore ${user} or --ignore-unseen-since`
  }
  const {pins} = leaving(journal, on)
  const clients = seen?.clients ?? []
  const others = seenWithOthers(clients, pins)
  const handedOut = new Set(issued.map(({fingerprint}) => fingerprint))
  // The control plane's own files were renewed, but somebody may have a copy.
  const isReplacedHere = ({user, fingerprint, lastSeen}: StoredClient) =>
    own.has(user) && !handedOut.has(fingerprint) && lastSeen <= (journal.renewedAt ?? '')
  const isGone = goneWithNodes(evidence)
  return stillUsed(clients, {...options, pins, holderOf})
    .filter(
      (one) =>
        !isReplacedHere(one) &&
        !revoked?.has(one.fingerprint) &&
        !isGone(one.user, new Date(one.lastSeen)),
    )
    .map(({user, lastSeen, address, userAgent, serial, fingerprint}) => ({
      kind: 'client',
      name: user,
      ...groupOf(user, names),
      reasons: [`uses certificate ${serial} of the ${on} CA${isNode(user) ? '' : others(user)}`],
      todo: todoOf(user),
      lastSeen,
      address,
      userAgent,
      fingerprint,
    }))
}

/** Valid certificates of the generation that nobody was seen with. What a registered node has, it reports itself. */
export function issuedDependents(
  journal: Journal,
  evidence: Evidence,
  {on, now, unseenFor}: DependentOptions,
): Dependent[] {
  const {seen, issued, revoked} = evidence
  const {fingerprints, pins} = leaving(journal, on)
  // Only as long as the server remembers its clients is it known that they were not seen.
  const isUnseen = ({notBefore}: IssuedCertificate) =>
    unseenFor !== undefined &&
    seen !== undefined &&
    now.getTime() - Math.max(Date.parse(notBefore), Date.parse(seen.since)) > unseenFor
  const names = namesOf(evidence)
  const known = new Set(seen?.clients.map(({fingerprint}) => fingerprint))
  const others = seenWithOthers(seen?.clients ?? [], pins)
  const isGone = goneWithNodes(evidence)
  return issued
    .filter(
      (one) =>
        fingerprints.has(one.issuerFingerprint) &&
        Date.parse(one.notAfter) > now.getTime() &&
        !known.has(one.fingerprint) &&
        !revoked?.has(one.fingerprint) &&
        !names.has(nodeOfUser(one.user) ?? '') &&
        !isUnseen(one) &&
        !isGone(one.user, issueTime(new Date(one.notBefore))),
    )
    .map(({user, serial, requester, notAfter, fingerprint}) => ({
      kind: 'issued',
      name: user,
      ...groupOf(user, names),
      reasons: [
        `has certificate ${serial} of the ${on} CA until ${formatTimestamp(new Date(notAfter))}, which ${requester} asked for and nobody was seen with${others(user)}`,
      ],
      todo: `find out whether ${user} still has it; if not, revoke it with "trustadm certificate revoke", or use --ignore or --ignore-unseen-since`,
      fingerprint,
    }))
}
