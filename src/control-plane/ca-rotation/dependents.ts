import type {Node} from '../../api/node.ts'
import type {SeenClient} from '../../server/authn/seen-clients.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import type {Which} from './generations.ts'
import type {Journal} from './journal.ts'
import {nodeReasons} from './node-trust.ts'

/** Somebody who would be locked out if a generation of the CAs were not trusted any more. */
export interface Dependent {
  kind: 'node' | 'client' | 'issued'
  /** As `--ignore` takes it. */
  name: string
  reasons: string[]
  /** What has to be done about it. */
  todo: string
  lastSeen?: string
  address?: string
  userAgent?: string
}

/** A certificate of the issuance log. */
export interface IssuedCertificate {
  user: string
  issuerFingerprint: string
  notBefore: string
  notAfter: string
}

export interface Evidence {
  nodes: readonly Node[]
  /** Undefined if the server does not remember its clients. */
  seen: readonly SeenClient[] | undefined
  issued: readonly IssuedCertificate[]
}

export interface DependentOptions {
  on: Which
  now: Date
  /** The control plane's own users: their certificates are renewed by the rotation itself. */
  own: ReadonlySet<string>
  /** Names that an operator has taken responsibility for. */
  ignored?: readonly string[]
  /** Clients that were not seen for so many milliseconds count as gone. */
  unseenFor?: number | undefined
}

const CLIENT_CA = 'client-ca'

function nodeDependents(
  journal: Journal,
  {nodes}: Evidence,
  {on, now}: DependentOptions,
): Dependent[] {
  return nodes.flatMap((node) => {
    const name = node.metadata.name ?? ''
    const reasons = nodeReasons(journal, node, on, now)
    if (reasons.length === 0) return []
    const todo = `run "trustadm node renew" on ${name}; if the machine is gone, delete its Node`
    return [{kind: 'node', name, reasons, todo} as const]
  })
}

const identityOf = ({user, address, userAgent}: SeenClient) => `${user}\n${address}\n${userAgent}`

/** The certificates of the generation that were used, without those whose user came back with another one. */
function clientDependents(
  journal: Journal,
  {nodes, seen = []}: Evidence,
  {on, now, own, unseenFor = Infinity}: DependentOptions,
): Dependent[] {
  const leaving = journal.units.find(({id}) => id === CLIENT_CA)?.[on].pin
  if (leaving === undefined) return []
  const names = new Set(nodes.map(({metadata}) => metadata.name))
  // A registered node is one machine, so that it may come back with another address or program.
  const keyOf = (one: SeenClient) => (names.has(nodeOfUser(one.user)) ? one.user : identityOf(one))
  const returned = new Map<string, string>()
  for (const one of seen) {
    if (one.issuerPin === leaving) continue
    const key = keyOf(one)
    if ((returned.get(key) ?? '') < one.lastSeen) returned.set(key, one.lastSeen)
  }
  return seen
    .filter((one) => {
      if (one.issuerPin !== leaving || Date.parse(one.notAfter) <= now.getTime()) return false
      // The control plane's own files were renewed, but somebody may have a copy.
      if (own.has(one.user) && one.lastSeen <= (journal.renewedAt ?? '')) return false
      if (now.getTime() - Date.parse(one.lastSeen) > unseenFor) return false
      return (returned.get(keyOf(one)) ?? '') <= one.lastSeen
    })
    .map(({user, lastSeen, address, userAgent, serial}) => ({
      kind: 'client',
      name: user,
      reasons: [`uses certificate ${serial} of the ${on} CA`],
      todo: `give ${user} a new certificate or kubeconfig, and let it replace the old one`,
      lastSeen,
      address,
      userAgent,
    }))
}

/** Users with a valid certificate of the generation, none of another one, and no sign of life. */
function issuedDependents(
  journal: Journal,
  {nodes, seen = [], issued}: Evidence,
  {on, now, own, unseenFor}: DependentOptions,
): Dependent[] {
  const leaving = journal.units.find(({id}) => id === CLIENT_CA)?.[on].fingerprint
  if (leaving === undefined || unseenFor !== undefined) return []
  const names = new Set(nodes.map(({metadata}) => metadata.name))
  const known = new Set(seen.map(({user}) => user))
  const newest = new Map<string, IssuedCertificate>()
  for (const one of issued) {
    if ((newest.get(one.user)?.notBefore ?? '') <= one.notBefore) newest.set(one.user, one)
  }
  return [...newest.values()]
    .filter(
      ({user, issuerFingerprint, notAfter}) =>
        issuerFingerprint === leaving &&
        Date.parse(notAfter) > now.getTime() &&
        !own.has(user) &&
        !known.has(user) &&
        !names.has(nodeOfUser(user)),
    )
    .map(({user, notAfter}) => ({
      kind: 'issued',
      name: user,
      reasons: [
        `has a certificate of the ${on} CA until ${notAfter}, and was not seen since the rotation began`,
      ],
      todo: `find out whether ${user} still exists; if not, use --ignore or --ignore-unseen-since`,
    }))
}

const ORDER: readonly Dependent['kind'][] = ['node', 'client', 'issued']

/** Who depends on a generation of the CAs, the most urgent first. */
export function dependentsOn(
  journal: Journal,
  evidence: Evidence,
  options: DependentOptions,
): Dependent[] {
  const found = [
    ...nodeDependents(journal, evidence, options),
    ...clientDependents(journal, evidence, options),
    ...issuedDependents(journal, evidence, options),
  ].filter(({name}) => !(options.ignored ?? []).includes(name))
  return found.sort(
    (one, other) =>
      ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) ||
      (other.lastSeen ?? '').localeCompare(one.lastSeen ?? '') ||
      one.name.localeCompare(other.name),
  )
}
