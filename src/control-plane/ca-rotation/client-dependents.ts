import type {SeenClient} from '../../server/authn/seen-clients.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import type {IssuedCertificate} from '../issued-clients.ts'
import {
  type Dependent,
  type DependentOptions,
  type Evidence,
  partsOf,
  todoOfNode,
} from './dependent.ts'
import type {Journal} from './journal.ts'
import {formatTimestamp} from '../../runtime.ts'

const CLIENT_CA = 'client-ca'

/** What leaves with a generation of the CA of clients. */
const leaving = ({units}: Journal, on: DependentOptions['on']) => partsOf(units, CLIENT_CA, on)

const identityOf = ({user, address, userAgent}: SeenClient) => `${user}\n${address}\n${userAgent}`

/** For so long a program may still use its old connections after it has got something new. */
const OVERLAP = 5 * 60_000

/**
 * Those that were used and depend on these keys, without those whose user came back with another one and does not use the old one any
 * more. After an abort, users go back to what they had before.
 */
export function stillUsed(
  seen: readonly SeenClient[],
  pins: ReadonlySet<string>,
  {on, now, unseenFor = Infinity}: Pick<DependentOptions, 'on' | 'now' | 'unseenFor'>,
  keyOf: (one: SeenClient) => string = identityOf,
): SeenClient[] {
  const others = new Map<string, SeenClient[]>()
  for (const one of seen) {
    if (pins.has(one.issuerPin)) continue
    const key = keyOf(one)
    const found = others.get(key)
    if (found) found.push(one)
    else others.set(key, [one])
  }
  const hasReturned = (one: SeenClient) =>
    (others.get(keyOf(one)) ?? []).some(
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

/** The certificates of the generation that were used. */
export function clientDependents(
  journal: Journal,
  {nodes, seen}: Evidence,
  options: DependentOptions,
): Dependent[] {
  const {on, own} = options
  const names = new Set(nodes.map(({metadata}) => metadata.name))
  // A registered node is one machine, so that it may come back with another address or program.
  const keyOf = (one: SeenClient) => (names.has(nodeOfUser(one.user)) ? one.user : identityOf(one))
  const todoOf = (user: string) => {
    const node = nodeOfUser(user)
    return node !== undefined && names.has(node)
      ? todoOfNode(node)
      : `give ${user} a new certificate or kubeconfig, and let it replace the old one`
  }
  const {pins} = leaving(journal, on)
  return (
    stillUsed(seen?.clients ?? [], pins, options, keyOf)
      // The control plane's own files were renewed, but somebody may have a copy.
      .filter(({user, lastSeen}) => !own.has(user) || lastSeen > (journal.renewedAt ?? ''))
      .map(({user, lastSeen, address, userAgent, serial}) => ({
        kind: 'client',
        name: user,
        reasons: [`uses certificate ${serial} of the ${on} CA`],
        todo: todoOf(user),
        lastSeen,
        address,
        userAgent,
      }))
  )
}

/** Users with a valid certificate of the generation, none of another one, and no sign of life. */
export function issuedDependents(
  journal: Journal,
  {nodes, seen, issued}: Evidence,
  {on, now, own, unseenFor}: DependentOptions,
): Dependent[] {
  const {fingerprints} = leaving(journal, on)
  // Only as long as the server remembers its clients is it known that they were not seen.
  const isGone = ({notBefore}: IssuedCertificate) =>
    unseenFor !== undefined &&
    seen !== undefined &&
    now.getTime() - Math.max(Date.parse(notBefore), Date.parse(seen.since)) > unseenFor
  const names = new Set(nodes.map(({metadata}) => metadata.name))
  const known = new Set(seen?.clients.map(({user}) => user))
  const newest = new Map<string, IssuedCertificate>()
  for (const one of issued) {
    if ((newest.get(one.user)?.notBefore ?? '') <= one.notBefore) newest.set(one.user, one)
  }
  return [...newest.values()]
    .filter(
      (one) =>
        fingerprints.has(one.issuerFingerprint) &&
        Date.parse(one.notAfter) > now.getTime() &&
        !own.has(one.user) &&
        !known.has(one.user) &&
        !names.has(nodeOfUser(one.user)) &&
        !isGone(one),
    )
    .map(({user, notAfter}) => ({
      kind: 'issued',
      name: user,
      reasons: [
        `has a certificate of the ${on} CA until ${formatTimestamp(new Date(notAfter))}, and was not seen since the rotation began`,
      ],
      todo: `find out whether ${user} still exists; if not, use --ignore or --ignore-unseen-since`,
    }))
}
