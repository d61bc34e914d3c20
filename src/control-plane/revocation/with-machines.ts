import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ConfigMap} from '../../api/core.ts'
import {TOKEN_USER_PREFIX} from '../../bootstrap/read-token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {
  ALL_RECORDS,
  nodeOf,
  readRecord,
  type NodeRecord,
} from '../../controllers/approval/node-record.ts'
import {
  ObtainedCertificates,
  type JoinCredential,
  type ObtainedCertificate,
} from '../../controllers/signing/obtained-by.ts'
import {isIssued} from '../../csr/conditions.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {nodeOfUser, nodeUser} from '../../csr/node-names.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {BACKDATE} from '../../pki/lifetimes.ts'
import type {Clock} from '../../runtime.ts'
import {awaitedKey} from './awaited-keys.ts'
import {
  certificateOfLine,
  isCurrent,
  lastEnds,
  readLogOf,
  withKeys,
  type KnownCertificate,
} from './known-certificates.ts'
import {revokeAll} from './revoke-all.ts'
import {MOST_SPARED, type RevocationReport} from './revoke.ts'

/** A machine that joined with a credential. */
interface WithdrawnNode {
  name: string
  /** Whether its Node is cordoned now; false if there is no Node. */
  cordoned: boolean
}

/** What was withdrawn with a credential, besides the credential itself. */
export interface WithdrawnMachines {
  certificates: RevocationReport[]
  /** Their Nodes are left for a person to delete. */
  nodes: WithdrawnNode[]
}

export interface WithdrawOptions {
  reason: string
  /** The issuance log; undefined if it is not on this machine. */
  log: string | undefined
  warn: (line: string) => void
  dryRun?: boolean | undefined
}

type Client = Pick<ApiClient, 'configMaps' | 'csrs' | 'nodes' | 'selfSubjectReviews'>

const known = ({node, pin, issuer, ...one}: ObtainedCertificate): KnownCertificate => ({
  user: node === undefined ? one.subject : nodeUser(node),
  ...(pin !== undefined && {pin}),
  serial: one.serial,
  ...(issuer !== undefined && {issuer}),
  fingerprint: one.fingerprint,
  request: one.request,
  notBefore: new Date(Date.parse(one.time) - BACKDATE),
  notAfter: new Date(one.notAfter),
})

/** The approver's records: who asked for a name, and which key has it. They are there also where the issuance log is out of reach. */
async function readRecords({configMaps}: Client): Promise<Map<string, NodeRecord>> {
  const records = new Map<string, NodeRecord>()
  const onPage = (items: ConfigMap[]) => {
    for (const object of items) records.set(nodeOf(object), readRecord(object))
  }
  await configMaps.list({...ALL_RECORDS, onPage})
  return records
}

/** The user of a bootstrap token; those of other credentials have many holders. */
const requesterOf = (credential: JoinCredential): string | undefined =>
  'tokenId' in credential ? `${TOKEN_USER_PREFIX}${credential.tokenId}` : undefined

/** The records name the token that a machine joined with, but no other credential: all requests of those have the same requester. */
function requireSource(
  credential: JoinCredential,
  {log, warn}: Pick<WithdrawOptions, 'log' | 'warn'>,
): void {
  if (log !== undefined) return
  if ('tokenId' in credential) {
    warn(
      'the issuance log is not on this machine: machines are found only by the records of their names. Run this on the machine of the control plane to find all certificates',
    )
    return
  }
  throw new TrustError(
    'USAGE',
    'without the issuance log nobody can tell which machines joined with this credential; nothing was changed',
    {
      hints: [
        'run it on the machine of the control plane, as a user who may read the issuance log there, with its admin.conf',
        'or leave out --with-machines to revoke the credential alone now, and run it there afterwards',
      ],
    },
  )
}

function recordedKeys(
  records: ReadonlyMap<string, NodeRecord>,
  credential: JoinCredential,
): KnownCertificate[] {
  if (!('tokenId' in credential)) return []
  return [...records]
    .filter(([, {requester}]) => requester === requesterOf(credential))
    .flatMap(([node, {holder, until, previous}]) =>
      [holder, previous?.pin].flatMap((pin) =>
        pin === undefined ? [] : [{user: nodeUser(node), pin, ...(until && {notAfter: until})}],
      ),
    )
}

/** The nodes that have a withdrawn key. One that has joined anew with another credential stays. */
function nodesOf(
  certificates: readonly KnownCertificate[],
  records: ReadonlyMap<string, NodeRecord>,
): Set<string> {
  const keys = new Set(certificates.map(({pin}) => pin))
  const names = certificates.flatMap(({user = ''}) => nodeOfUser(user) ?? [])
  return new Set(
    names.filter((name) => {
      const holder = records.get(name)?.holder
      return holder === undefined || keys.has(holder)
    }),
  )
}

async function cordon(
  {nodes}: Client,
  name: string,
  {dryRun}: WithdrawOptions,
): Promise<WithdrawnNode> {
  try {
    const patch = {spec: {unschedulable: true}}
    await nodes.patch(name, patch, {type: 'merge', dryRun})
    return {name, cordoned: true}
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error
    return {name, cordoned: false}
  }
}

interface Found {
  certificates: KnownCertificate[]
  records: ReadonlyMap<string, NodeRecord>
  /** Which keys nodes have from elsewhere, by user, the newest last: a machine that has joined anew with another credential keeps them. */
  others: ReadonlyMap<string, readonly string[]>
  /** Whether the credential itself has made more requests that wait than are worth an entry each. */
  isFlood: boolean
}

/** So many requests that wait get entries of their own. */
const MOST_WAITING = 32

/** What was obtained by a credential so far, and the keys that a certificate may still be issued for. */
async function findMachines(
  client: Client,
  credential: JoinCredential,
  {log, warn}: WithdrawOptions,
  now: Date,
): Promise<Found> {
  const requests: CertificateSigningRequest[] = []
  // Before the log, which has a line for each certificate before its request does.
  await client.csrs.list({
    onPage: (items) => {
      requests.push(...items.filter((csr) => !isIssued(csr)))
    },
  })
  const obtained = new ObtainedCertificates(credential)
  const others = new Map<string, string[]>()
  await readLogOf({log, warn}, (line) => {
    const count = obtained.found.length
    obtained.see(line)
    if (obtained.found.length > count) return
    for (const {user = '', pin, ...one} of certificateOfLine(line)) {
      if (pin === undefined || nodeOfUser(user) === undefined || !isCurrent(one, now)) continue
      others.set(user, [...(others.get(user) ?? []), pin].slice(-MOST_SPARED))
    }
  })
  const logged = obtained.found.map(known)
  const waiting = requests.filter(({spec}) => {
    const used = credentialOf(spec)
    const requester = spec.username ?? ''
    return obtained.wayOf({requester, ...(used !== undefined && {credential: used})})
  })
  const own = waiting.filter(({spec}) => spec.username === requesterOf(credential))
  const isFlood = own.length > MOST_WAITING
  const left = isFlood ? new Set(own.slice(0, -MOST_WAITING)) : new Set()
  const awaited = waiting.filter((csr) => !left.has(csr)).flatMap((csr) => awaitedKey(csr, now))
  const records = await readRecords(client)
  for (const [node, {holder}] of records) {
    const user = nodeUser(node)
    if (holder !== undefined && !others.has(user)) others.set(user, [holder])
  }
  const all = withKeys(logged, [...awaited, ...recordedKeys(records, credential)])
  const certificates = all.filter((one) => isCurrent(one, now))
  const keys = new Set(certificates.map(({pin}) => pin))
  for (const [user, pins] of others) {
    others.set(
      user,
      pins.filter((pin) => !keys.has(pin)),
    )
  }
  return {certificates, records, others, isFlood}
}

/**
 * Revokes every certificate that was obtained by a credential, and those that these obtained in turn, and cordons the Nodes. The
 * credential itself is to be withdrawn first, so that nobody gets another one in the meantime.
 */
export async function withdrawMachines(
  client: Client,
  credential: JoinCredential,
  options: WithdrawOptions,
  clock: Clock,
): Promise<WithdrawnMachines> {
  const {log, warn, reason, dryRun} = options
  requireSource(credential, options)
  let found = await findMachines(client, credential, options, clock.now())
  const findAgain = async () => {
    found = await findMachines(client, credential, options, clock.now())
    return found.certificates
  }
  const ends = await lastEnds({client, log, warn})
  const requester = requesterOf(credential)
  const whole = {
    includes: (user: string) => nodeOfUser(user) !== undefined,
    spared: (user: string) => found.others.get(user) ?? [],
    requesters: found.isFlood && requester !== undefined ? [requester] : [],
  }
  const {revoked, unchanged, certificates} = await revokeAll(
    client,
    {first: found.certificates, findAgain},
    {reason, dryRun, ends, whole},
    clock,
  )
  const nodes: WithdrawnNode[] = []
  for (const name of nodesOf(certificates, found.records)) {
    nodes.push(await cordon(client, name, options))
  }
  return {certificates: [...revoked, ...unchanged], nodes}
}
