import {clientDependents, issuedDependents} from './client-dependents.ts'
import {todoOfNode, type Dependent, type DependentOptions, type Evidence} from './dependent.ts'
import {forgottenDependents} from './forgotten.ts'
import {partsOf} from './generation-parts.ts'
import type {Journal} from './journal.ts'
import {nodeReasons} from './node-trust.ts'
import {secretDependents, tokenDependents} from './token-dependents.ts'

function nodeDependents(
  journal: Journal,
  {nodes}: Evidence,
  {on, now}: DependentOptions,
): Dependent[] {
  return nodes.flatMap((node) => {
    const name = node.metadata.name ?? ''
    const reasons = nodeReasons(journal, node, on, now)
    if (reasons.length === 0) return []
    return [{kind: 'node', name, reasons, todo: todoOfNode(name)} as const]
  })
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

/** An etcd reads its certificates for each connection, but the CAs that it trusts only at its start, and does not report them. */
function etcdDependents({units}: Journal, {on}: DependentOptions): Dependent[] {
  if (on === 'new' || !units.some(({id}) => id === 'etcd-ca')) return []
  return [
    {
      kind: 'etcd',
      name: 'etcd',
      reasons: ['may not trust the new CA: it reads its CAs only when it starts'],
      todo: 'restart every etcd that uses the files in "etcd" beside the CAs, so that it trusts both, and renew the files for etcd on machines where you have provided them; then go on with --ignore etcd',
    },
  ]
}

const ORDER: readonly Dependent['kind'][] = [
  'node',
  'client',
  'token',
  'secret',
  'signer',
  'etcd',
  'issued',
  'forgotten',
]

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
    ...signerDependents(journal, evidence, options),
    ...etcdDependents(journal, options),
    ...issuedDependents(journal, evidence, options),
    ...forgottenDependents(journal, evidence, options),
  ].filter(({name}) => !(options.ignored ?? []).includes(name))
  return found.sort(
    (one, other) =>
      ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) ||
      (other.lastSeen ?? '').localeCompare(one.lastSeen ?? '') ||
      one.name.localeCompare(other.name),
  )
}
