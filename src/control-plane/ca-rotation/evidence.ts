import type {ApiClient} from '../../client/api-client.ts'
import {readCredentials} from '../../controllers/approval/bootstrap-credentials.ts'
import {headsIn} from '../../controllers/signing/shared-heads.ts'
import {ACCOUNT_TOKEN_TYPE, BOOTSTRAPPER_NAMESPACES} from '../../csr/bootstrapper.ts'
import {certificateFingerprint, tokenOfCredential} from '../../csr/user-extra.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {LEAVES} from '../../pki/catalog.ts'
import type {Clock} from '../../runtime.ts'
import type {SeenClientList, SeenList, StoredClient} from '../../server/authn/seen-clients.ts'
import {OWN_NAMESPACE} from '../../trust/own-namespace.ts'
import {issueTime, RevocationList, revocationsOf} from '../../trust/revocations.ts'
import {connectToServer} from '../admin.ts'
import {etcdOf} from '../config/etcd.ts'
import type {Plane} from '../config/plane.ts'
import {
  ISSUED_PATH,
  type IssuedCertificate,
  type IssuedList,
  readIssuedClients,
} from '../issued-clients.ts'
import {SIGNERS_LEASE} from '../leading.ts'
import {identityOf} from '../plane-storage.ts'
import {readList} from '../revocation/list-store.ts'
import {readSeenLists, type SeenListEntry} from '../seen-lists.ts'
import {leaseNameOf, readServers} from '../server-identity.ts'
import {readNamedSigners} from '../server-report.ts'
import type {Evidence, TokenSecret, UnlistedCertificates, UnreadLog} from './dependent.ts'
import {labelOf} from './following.ts'
import {keyIdOf} from './published.ts'

/** The users of the control plane's own certificates. */
export const OWN_USERS: ReadonlySet<string> = new Set(
  LEAVES.filter(({usages}) => usages.includes('client auth')).map(
    ({subject}) => subject.commonName,
  ),
)

interface EvidenceOptions {
  clock: Clock
  warn: (line: string) => void
  /** How other servers of the control plane are asked. */
  reach?: Reach | undefined
}

/** Only what cannot be refilled is of interest, but that is for others to tell. */
async function readTokenSecrets({secrets}: Pick<ApiClient, 'secrets'>): Promise<TokenSecret[]> {
  const {items} = await secrets.list({fieldSelector: `type=${ACCOUNT_TOKEN_TYPE}`})
  return items.flatMap(({metadata, data}) => {
    const keyId = keyIdOf(Buffer.from(data?.token ?? '', 'base64').toString())
    return keyId === undefined
      ? []
      : [{name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`, keyId}]
  })
}

/** Everything that is known about who uses which CA: what nodes report, who was seen, and what was issued. */
export async function gatherEvidence(
  plane: Plane,
  client: Pick<ApiClient, 'configMaps' | 'leases' | 'nodes' | 'raw' | 'secrets'>,
  {clock, warn, reach}: EvidenceOptions,
): Promise<Evidence> {
  const [{items: nodes}, everywhere, tokenSecrets, signers, credentials, revocations] =
    await Promise.all([
      client.nodes.list(),
      readSeenEverywhere(plane, client, {clock, warn, reach}),
      readTokenSecrets(client),
      readNamedSigners(client),
      Promise.all(BOOTSTRAPPER_NAMESPACES.map((one) => readCredentials(client, one))),
      readRevoked(client),
    ])
  const revoked = revokedOf(everywhere, revocations)
  const bootstrap = credentials.flat().filter(({credential}) => !isRevoked(credential, revocations))
  return {nodes, ...everywhere, tokenSecrets, signers, bootstrap, revoked}
}

const isRevoked = (credential: string | null, revocations: RevocationList): boolean =>
  credential !== null &&
  (revocations.findFingerprint(certificateFingerprint(credential)) !== undefined ||
    revocations.findToken(tokenOfCredential(credential)) !== undefined)

async function readRevoked(client: Pick<ApiClient, 'configMaps'>): Promise<RevocationList> {
  const list = new RevocationList()
  for (const part of await readList(client)) list.set(part.name, part)
  return list
}

/** The fingerprints of those that are revoked, as far as they are known. */
function revokedOf(
  {issued, seen}: Pick<Evidence, 'issued' | 'seen'>,
  revocations: RevocationList,
): Set<string> {
  const isOnList = ({user, serial, pin, issuer, notBefore}: IssuedCertificate): boolean =>
    pin !== undefined &&
    issuer !== undefined &&
    (revocations.find(revocationsOf({pin, serial, issuer})) !== undefined ||
      revocations.findUser(user, issueTime(new Date(notBefore)), pin) !== undefined)
  const named = (seen?.clients ?? []).filter(
    ({fingerprint}) => revocations.findFingerprint(fingerprint) !== undefined,
  )
  return new Set([...issued.filter(isOnList), ...named].map(({fingerprint}) => fingerprint))
}

const SEEN_CLIENTS = '/trustadm/seen-clients'

/** What the servers of the control plane know about clients. */
interface SeenEverywhere {
  /** Who was seen by any of them. Undefined if the server of this machine does not remember its clients. */
  seen: SeenClientList | undefined
  /** The servers that are alive and could not be asked, each with the reason. */
  unasked: string[]
  /** The lists of those that are off. */
  stopped: SeenListEntry[]
  /** What any of them has signed. */
  issued: IssuedList['certificates']
  /** What else is in their logs, or was. */
  unlisted: UnlistedCertificates[]
  /** The issuance logs that nobody has read. */
  unread: UnreadLog[]
}

/** Undefined for a server that has no such document: only trustadm's own has it, and only since a version. */
async function readDocument<Document>(
  client: Pick<ApiClient, 'raw'>,
  path: string,
): Promise<Document | undefined> {
  try {
    return JSON.parse(await client.raw(path)) as Document
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

const keyOf = ({fingerprint, issuerPin}: StoredClient): string => `${fingerprint}\n${issuerPin}`

/** One that several servers have seen: when any of them has seen it first and last. */
function joined(one: SeenList, other: SeenList): SeenList {
  const clients = new Map(one.clients.map((client) => [keyOf(client), client]))
  for (const client of other.clients) {
    const known = clients.get(keyOf(client)) ?? client
    const {firstSeen} = known.firstSeen < client.firstSeen ? known : client
    const newest = known.lastSeen > client.lastSeen ? known : client
    clients.set(keyOf(client), {...newest, firstSeen})
  }
  return {
    dropped: one.dropped + other.dropped,
    forgotten: [...one.forgotten, ...other.forgotten],
    clients: [...clients.values()],
  }
}

/** The lists of several servers as one. It is as young as the youngest: what that server has seen before is not known. */
const mergeSeen = (one: SeenClientList, other: SeenClientList): SeenClientList => ({
  ...joined(one, other),
  since: one.since > other.since ? one.since : other.since,
  tokens: joined(one.tokens, other.tokens),
  deletedNodes: [...(one.deletedNodes ?? []), ...(other.deletedNodes ?? [])],
})

/** Connects to one server of the control plane, by its own address. */
export type Reach = (plane: Plane, address: string) => Promise<ApiClient>

interface SeenOptions {
  clock: Clock
  warn: (line: string) => void
  reach?: Reach | undefined
}

/** Each server remembers only who has talked to it, and what it has signed itself. */
export async function readSeenEverywhere(
  plane: Plane,
  client: Pick<ApiClient, 'configMaps' | 'leases' | 'raw'>,
  {clock, warn, reach = connectToServer}: SeenOptions,
): Promise<SeenEverywhere> {
  let seen = await readDocument<SeenClientList>(client, SEEN_CLIENTS)
  const lists = [await readIssuedClients(plane, clock, warn)]
  const known = () => ({
    issued: lists.flatMap(({certificates}) => certificates),
    unlisted: lists.map(({server, more = [], began}) => ({server, more, began})),
  })
  const unasked: string[] = []
  if (!etcdOf(plane.settings)) return {seen, unasked, stopped: [], ...known(), unread: []}
  const own = leaseNameOf(identityOf(plane))
  const servers = await readServers(client, clock)
  for (const server of servers.filter(({alive, name}) => alive && name !== own)) {
    try {
      const found = server.address ? await ask(plane, server.address, reach) : undefined
      // An earlier version names only the newest certificate of each user.
      if (found?.issued?.more) lists.push(found.issued)
      if (found?.seen) seen = seen && mergeSeen(seen, found.seen)
      else unasked.push(`${labelOf(server)}: it is of an earlier version`)
    } catch (error) {
      unasked.push(`${labelOf(server)}: ${messageOf(error)}`)
    }
  }
  const alive = new Set([own, ...servers.flatMap(({alive, name}) => (alive ? name : []))])
  const stopped = (await readSeenLists(client)).filter(({name}) => !alive.has(name))
  return {seen, unasked, stopped, ...known(), unread: await unreadLogs(client, lists)}
}

/** Of the servers that have signed, those whose logs are not among these. */
async function unreadLogs(
  {leases}: Pick<ApiClient, 'leases'>,
  lists: readonly IssuedList[],
): Promise<UnreadLog[]> {
  const lease = await leases.find({namespace: OWN_NAMESPACE, name: SIGNERS_LEASE})
  const read = new Set(lists.map(({server}) => server))
  const newest = new Map<string, UnreadLog>()
  for (const {server, time} of headsIn(lease?.metadata.annotations)) {
    if (server === undefined || read.has(server)) continue
    const known = newest.get(server)?.time ?? ''
    newest.set(server, {server, time: (time ?? '') > known ? time : known})
  }
  return [...newest.values()]
}

async function ask(plane: Plane, address: string, reach: Reach) {
  const client = await reach(plane, address)
  try {
    return {
      seen: await readDocument<SeenClientList>(client, SEEN_CLIENTS),
      issued: await readDocument<IssuedList>(client, ISSUED_PATH),
    }
  } finally {
    await client.close()
  }
}
