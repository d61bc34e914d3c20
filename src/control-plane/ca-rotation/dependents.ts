import type {Node} from '../../api/node.ts'
import {nodeOfUser, nodeUser} from '../../csr/node-names.ts'
import {type ReportedCertificate, trustReportOf} from '../../node/trust-report.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {pinOfKeyId} from '../../trust/token-keys.ts'
import {CLIENT_CA, CLUSTER_CA, KUBELET_CA, KUBELET_SERVING_CA} from '../certificates.ts'
import {bootstrapDependents} from './bootstrap-dependents.ts'
import {
  clientDependents,
  issuedDependents,
  replacedDependents,
  stillUsed,
} from './client-dependents.ts'
import {
  type Dependent,
  type DependentOptions,
  type Evidence,
  partsOf,
  todoOfNode,
} from './dependent.ts'
import {forgottenDependents} from './forgotten.ts'
import type {Which} from './generations.ts'
import type {Journal, UnitRecord} from './journal.ts'
import {rotatesEtcd} from './units.ts'

function nodeDependents(
  journal: Journal,
  evidence: Evidence,
  {on, now}: DependentOptions,
): Dependent[] {
  const served = on === 'new' ? usersWithNew(journal, evidence.issued) : undefined
  return evidence.nodes.flatMap((node) => {
    const name = node.metadata.name ?? ''
    // What such a node holds is from before the rotation, unless the issuance log has more.
    const isUntouched = served && !trustReportOf(node) && !served.has(nodeUser(name))
    if (isUntouched || (on === 'old' && hasJoinedSince(journal, node, evidence))) return []
    const reasons = nodeReasons(journal, node, on, now)
    if (reasons.length === 0) return []
    return [{kind: 'node', name, reasons, todo: todoOfNode(name)} as const]
  })
}

/** The users whose newest certificate for clients, or for servers of kubelets, is of a new CA. */
function usersWithNew({units}: Journal, issued: Evidence['issued']): ReadonlySet<string> {
  const users = new Set<string>()
  for (const id of [CLIENT_CA, KUBELET_SERVING_CA]) {
    const [old, next] = [partsOf(units, id, 'old'), partsOf(units, id, 'new')]
    const newest = new Map<string, Evidence['issued'][number]>()
    for (const one of issued) {
      const {user, issuerFingerprint: issuer, notBefore} = one
      if (!old.fingerprints.has(issuer) && !next.fingerprints.has(issuer)) continue
      if ((newest.get(user)?.notBefore ?? '') <= notBefore) newest.set(user, one)
    }
    for (const {user, issuerFingerprint} of newest.values())
      if (next.fingerprints.has(issuerFingerprint)) users.add(user)
  }
  return users
}

/** Whether a Node without a report was created after the rotation began. */
export const isUnreportedNewcomer = (
  {lastInitiation}: Pick<Journal, 'lastInitiation'>,
  node: Node,
): boolean =>
  !trustReportOf(node) &&
  Date.parse(node.metadata.creationTimestamp ?? '') > Date.parse(lastInitiation)

/**
 * Whether a Node without a report is that of a machine which joined after the rotation began. New CAs sign only once cluster-info has both,
 * so that a machine all of whose certificates are by the new one has found both there. A machine that was a member before has been
 * seen with an old one: a server that does not remember that far proves nothing.
 */
function hasJoinedSince(
  {units, lastInitiation}: Journal,
  node: Node,
  {seen, unasked = [], issued}: Evidence,
): boolean {
  const clients = units.find(({id}) => id === CLIENT_CA)
  if (!clients || !seen || unasked.length > 0) return false
  if (seen.since > lastInitiation || seen.dropped > 0) return false
  if (!isUnreportedNewcomer({lastInitiation}, node)) return false
  const user = nodeUser(node.metadata.name ?? '')
  const used = seen.clients.filter((one) => one.user === user)
  const certificates = issued.filter((one) => one.user === user)
  // The log has serving certificates of the same subject, too.
  const news = new Set(units.map((unit) => unit.new.fingerprint))
  const {pin, fingerprint} = clients.new
  return (
    (used.length > 0 || certificates.some((one) => one.issuerFingerprint === fingerprint)) &&
    used.every(({issuerPin}) => issuerPin === pin) &&
    certificates.every(({issuerFingerprint}) => news.has(issuerFingerprint))
  )
}

/** Signers that an operator lets sign with a copy of the CA that leaves: nobody would trust what they sign. */
function signerDependents(
  {units}: Journal,
  {signers = []}: Evidence,
  {on}: DependentOptions,
): Dependent[] {
  const leaving = new Set(units.flatMap(({id}) => [...partsOf(units, id, on).pins]))
  return signers.flatMap(({host, signers: named}) =>
    named
      .filter(({pin}) => leaving.has(pin))
      .map(({name, location}) => ({
        kind: 'signer',
        name,
        reasons: [`signs on ${host} with the ${on} CA, in ${location}`],
        todo: `let the signer on ${host} use another CA than that in ${location}: its --cluster-signing flags name it`,
      })),
  )
}

/** An etcd reads its certificates for each connection, but the CAs that it trusts only at its start. */
function etcdDependents(
  journal: Journal,
  {etcd = []}: Evidence,
  {on}: DependentOptions,
): Dependent[] {
  if (on === 'new' || !rotatesEtcd(journal)) return []
  const refusing = etcd.flatMap(({server, state}): Dependent[] =>
    state === 'refuses'
      ? [
          {
            kind: 'etcd',
            name: server,
            reasons: ['does not trust the new CA: it reads its CAs only when it starts'],
            todo: 'restart every etcd that uses the files in "etcd" beside the CAs, so that it trusts both, and renew the files for etcd on machines where you have provided them',
          },
        ]
      : [],
  )
  const unknown = etcd.flatMap(({server, state, reason = ''}) =>
    state === 'unknown' ? [`${server} cannot be checked: ${reason}`] : [],
  )
  if (etcd.length === 0) unknown.push('this control plane does not know where its etcd is')
  if (unknown.length === 0) return refusing
  return [
    ...refusing,
    {
      kind: 'etcd',
      name: 'etcd',
      reasons: ['may not trust the new CA: it reads its CAs only when it starts', ...unknown],
      todo: 'restart every etcd that uses the files in "etcd" beside the CAs, so that it trusts both, and renew the files for etcd on machines where you have provided them; then go on with --ignore etcd',
    },
  ]
}

const ORDER: readonly Dependent['kind'][] = [
  'node',
  'client',
  'token',
  'secret',
  'bootstrap',
  'signer',
  'etcd',
  'issued',
  'forgotten',
  'replaced',
]

/** Whether an operator goes on without it. The name of a Node also stands for the user of its machine. */
const isIgnored = (
  {name, group = name}: Pick<Dependent, 'name' | 'group'>,
  ignored: readonly string[] = [],
): boolean => [name, group, nodeOfUser(name) ?? name].some((one) => ignored.includes(one))

/** Who depends on a generation of the CAs, the most urgent first. */
export function dependentsOn(
  journal: Journal,
  evidence: Evidence,
  options: DependentOptions,
): Dependent[] {
  const found = [
    ...nodeDependents(journal, evidence, options),
    ...clientDependents(journal, evidence, options),
    ...tokenDependents(journal, evidence, options),
    ...secretDependents(journal, evidence, options),
    ...bootstrapDependents(journal, evidence, options),
    ...signerDependents(journal, evidence, options),
    ...etcdDependents(journal, evidence, options),
    ...issuedDependents(journal, evidence, options),
    ...forgottenDependents(journal, evidence, options),
    ...replacedDependents(journal, evidence, options),
  ].filter((one) => !isIgnored(one, options.ignored))
  return found.sort(
    (one, other) =>
      ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) ||
      (other.lastSeen ?? '').localeCompare(one.lastSeen ?? '') ||
      one.name.localeCompare(other.name),
  )
}

const other = (which: Which): Which => (which === 'old' ? 'new' : 'old')

/**
 * Whether a certificate that a node reports is of a generation. What cannot be told counts as of the old one, so that nobody is
 * locked out: trustadm's own CAs always name their key in what they sign, so that the new one can be told.
 */
function isOf(on: Which, {issuerKeyId}: ReportedCertificate, unit: UnitRecord): boolean {
  const isNew = Boolean(issuerKeyId) && issuerKeyId === unit.new.keyId
  if (on === 'new') return isNew
  const {keyIds} = partsOf([unit], unit.id, 'old')
  return !issuerKeyId || keyIds.has(issuerKeyId) || (!unit.old.keyId && !isNew)
}

/** Why a node would be cut off if a generation of the CAs were not trusted any more, by what it reports. */
export function nodeReasons(
  {units}: Pick<Journal, 'units'>,
  node: Node,
  on: Which,
  now: Date,
): string[] {
  const find = (id: string) => units.find((unit) => unit.id === id)
  const [servers, clients, kubelets] = [CLUSTER_CA, CLIENT_CA, KUBELET_SERVING_CA].map(find)
  const callers = find(KUBELET_CA)
  if (!servers && !clients && !kubelets && !callers) return []
  const report = trustReportOf(node)
  if (!report) return ['does not report what it trusts: "trustadm node run" is not running there']
  const reasons: string[] = []
  if (servers && !report.trusts.some((pin) => pin === servers[other(on)].pin)) {
    reasons.push(`does not trust the ${other(on)} CA of the API server yet`)
  }
  if (callers && !report.kubeletClients?.some((pin) => pin === callers[other(on)].pin)) {
    reasons.push(`its kubelet does not accept the ${other(on)} CA of those who call kubelets yet`)
  }
  if (clients && isOf(on, report.client, clients)) {
    const isOver = Date.parse(report.client.notAfter) <= now.getTime()
    reasons.push(`its ${isOver ? 'expired ' : ''}certificate is from the ${on} CA`)
  }
  if (kubelets && report.serving && isOf(on, report.serving, kubelets)) {
    reasons.push(`its serving certificate is from the ${on} CA`)
  }
  return reasons
}

const pinsOf = ({units}: Journal, {on}: DependentOptions): ReadonlySet<string> =>
  partsOf(units, SERVICE_ACCOUNT_KEYS.id, on).pins

/** Tokens of the generation that were seen, but for those of pods that have come back with another one. */
function tokenDependents(
  journal: Journal,
  {seen}: Evidence,
  options: DependentOptions,
): Dependent[] {
  const {on} = options
  // The kubelet replaces the tokens of a pod; nobody knows who has a copy of any other.
  const found = stillUsed(seen?.tokens.clients ?? [], {
    ...options,
    pins: pinsOf(journal, options),
    holderOf: ({holder}) => holder,
  })
  return found.map(({user, lastSeen, address, userAgent, holder = 'a program'}) => ({
    kind: 'token',
    name: user,
    reasons: [`${holder} uses a token that the ${on} key has signed`],
    todo: `let ${user} fetch a new token: restart its pods, or create one with "kubectl create token"; once the old one is out of use, use --ignore ${user} or --ignore-unseen-since`,
    lastSeen,
    address,
    userAgent,
  }))
}

/** Secrets whose token cannot be replaced. Those that can are refilled before anybody is asked. */
function secretDependents(
  journal: Journal,
  {tokenSecrets = []}: Evidence,
  options: DependentOptions,
): Dependent[] {
  const pins = pinsOf(journal, options)
  return tokenSecrets
    .filter(({keyId}) => pins.has(pinOfKeyId(keyId)))
    .map(({name}) => ({
      kind: 'secret',
      name,
      reasons: [`has a token that the ${options.on} key has signed`],
      todo: `if the Secret ${name} is immutable, delete it and create it again`,
    }))
}
