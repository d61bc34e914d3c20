import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {TrustError} from '../../errors.ts'
import {
  isOfCredential,
  keyRevocation,
  revokedUntil,
  type Revocation,
} from '../../trust/revocations.ts'
import {serialOf} from './known-certificates.ts'
import {readList, removeFromList} from './list-store.ts'
import {reportOn, type RevocationReport} from './revoke.ts'

type Client = Pick<ApiClient, 'configMaps'>

export interface RevocationListReport {
  revocations: RevocationReport[]
  /** What is wrong with the list. */
  problems: string[]
}

/** All entries, the newest first. */
export async function listRevocations(client: Client): Promise<RevocationListReport> {
  const parts = await readList(client)
  const timeOf = ({revoked}: Revocation): string => revoked ?? ''
  const revocations = parts
    .flatMap((part) => part.revocations)
    .filter(({id}) => !isOfCredential(id))
    .sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1))
  const problems = parts.flatMap(({name, unknown, unreadable}) => [
    ...unknown.map((id) => `"${id}" in ConfigMap ${name} names no key or serial number`),
    ...unreadable.map((id) => `the details of "${id}" in ConfigMap ${name} are unreadable`),
  ])
  return {revocations: revocations.map(reportOn), problems}
}

export interface UnrevokedCertificates {
  unrevoked: RevocationReport[]
}

/** Which entries to remove: any of these. */
export interface UnrevokeTargets {
  /** Names of requests, or serial numbers. */
  names: readonly string[]
  node?: string | undefined
  pin?: string | undefined
}

interface Target {
  what: string
  matches: (revocation: Revocation) => boolean
}

const byName = (name: string): Target => ({
  what: `"${printable(name)}"`,
  matches: (one) => one.request === name || reportOn(one).serial === (serialOf(name) ?? ''),
})

const byNode = (node: string): Target => ({
  what: `node "${printable(node)}"`,
  matches: ({user}) => user === nodeUser(node),
})

const byPin = (pin: string): Target => ({what: pin, matches: ({id}) => id === keyRevocation(pin)})

/** Takes certificates off the list. A target that is not on it is an error, before anything is changed. */
export async function unrevokeCertificates(
  client: Client,
  {names, node, pin}: UnrevokeTargets,
  {dryRun = false}: {dryRun?: boolean | undefined} = {},
): Promise<UnrevokedCertificates> {
  const targets = [
    ...names.map(byName),
    ...(node === undefined ? [] : [byNode(node)]),
    ...(pin === undefined ? [] : [byPin(pin)]),
  ]
  if (targets.length === 0) {
    throw new TrustError('USAGE', 'no certificates were named', {
      hints: ['name requests or serial numbers, or use --node or --pin'],
    })
  }
  const entries = (await readList(client))
    .flatMap(({revocations}) => revocations)
    .filter(({id}) => !isOfCredential(id))
  const found = new Set<Revocation>()
  for (const {what, matches} of targets) {
    const matching = entries.filter(matches)
    if (matching.length === 0) throw notRevoked(what)
    for (const one of matching) found.add(one)
  }
  for (const one of found) requireNoOther(one, entries, found)
  if (!dryRun) await removeFromList(client, new Set(Array.from(found, ({id}) => id)))
  return {unrevoked: Array.from(found, reportOn)}
}

/** An entry for everything of the user would still be in force. */
function requireNoOther(
  {user}: Revocation,
  entries: readonly Revocation[],
  found: ReadonlySet<Revocation>,
): void {
  const other = entries.find(
    (one) => user !== undefined && one.user === user && revokedUntil(one.id) && !found.has(one),
  )
  if (other === undefined) return
  throw new TrustError('CONFLICT', `everything of "${printable(user ?? '')}" is revoked`, {
    hints: ['accept all of it again with "trustadm certificate unrevoke --node"'],
  })
}

const notRevoked = (what: string): TrustError =>
  new TrustError('NOT_FOUND', `no revoked certificate found for ${what}`, {
    hints: ['list them with "trustadm certificate list --revoked"'],
  })
