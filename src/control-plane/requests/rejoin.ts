import {parseDuration} from '../../bootstrap/durations.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {recordKey} from '../../controllers/approval/node-record.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {findRecord, grantRejoin, removeGrant} from '../../controllers/approval/record-store.ts'
import {hasGrant, type GrantedTo} from '../../controllers/approval/rejoin-grant.ts'
import {elsewhere, hasCode, TrustError} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {requireRequester, waitingFor, type WaitingRequest} from './rejoin-candidates.ts'

/** What `certificate allow-rejoin` prints. */
export interface RejoinGrant {
  node: string
  /** Null if nothing is allowed. */
  allowedUntil: string | null
  /** The allowed key; null if it is not known yet. */
  pin: string | null
  /** Whose next request is allowed; null if a key is named. */
  requester: string | null
  /** The waiting request of that key. */
  request: string | null
  /** Whether there was a grant to revoke; only for a revocation. */
  wasAllowed?: boolean
  /** The ConfigMap with the grant, in trustadm-system. */
  record: string
}

export interface RejoinOptions {
  /** In milliseconds. */
  ttl: number
  /** The key to allow. */
  pin?: string | undefined
  /** Whose next request to allow, if not the previous requester's. */
  requester?: string | undefined
  /** Asks a person which of these to allow; undefined for none. Absent if there is no terminal. */
  choose?: ((waiting: readonly WaitingRequest[]) => Promise<WaitingRequest | undefined>) | undefined
}

type Client = Pick<ApiClient, 'configMaps' | 'csrs' | 'secrets'>

const MOST_CONFLICTS = 10
const MOST_LISTED = 20
const LONGEST_TTL = 7 * 86_400_000

function requireNodeName(node: string): void {
  if (isNodeName(node)) return
  throw new TrustError('USAGE', 'this is not a valid name for a node', {
    hints: ['use lower-case letters, digits, hyphens and dots, as in "worker-1.example.com"'],
  })
}

/** A grant without an end would be no protection. */
export function rejoinTtl(text: string): number {
  const ttl = parseDuration(text, '--ttl')
  if (ttl >= 1000 && ttl <= LONGEST_TTL) return ttl
  throw new TrustError('USAGE', '--ttl must be between a second and a week', {
    hints: ['use a duration such as "30m" or "2h"'],
  })
}

const describe = ({name, requester, address}: WaitingRequest): string =>
  `request "${name}" of "${requester}"${address === null ? '' : ` from ${address}`}`

/** The first request is not simply allowed: anyone with a token can send one before the operator acts. */
function mustChoose(node: string, waiting: readonly WaitingRequest[]): TrustError {
  const count = waiting.length === 1 ? 'a request is' : `${waiting.length} requests are`
  return new TrustError(
    'USAGE',
    `${count} waiting for the name "${node}": name the key with --pin`,
    {
      facts: {node, waiting},
      hints: [
        ...waiting.slice(0, MOST_LISTED).map((one) => `--pin ${one.pin} is for ${describe(one)}`),
        ...(waiting.length > MOST_LISTED
          ? ['list the others with "trustadm certificate list"']
          : []),
        elsewhere('compare the pin with the one that "trustadm join" prints on the machine'),
      ],
    },
  )
}

/** Which key or requester to allow; undefined if a person chose none. */
async function grantee(
  client: Client,
  node: string,
  {pin, requester, choose}: RejoinOptions,
  clock: Clock,
): Promise<{to: GrantedTo; request?: string | undefined} | undefined> {
  const {waiting, revision} = await waitingFor(client, node)
  if (pin !== undefined) {
    return {to: {pin}, request: waiting.find((one) => one.pin === pin)?.name}
  }
  if (waiting.length === 0) {
    const whose = requester ?? (await requireRequester(client, node, clock))
    return {to: {requester: whose, after: revision}}
  }
  if (choose === undefined) throw mustChoose(node, waiting)
  const chosen = await choose(waiting)
  return chosen && {to: {pin: chosen.pin}, request: chosen.name}
}

/** Allows one machine with another key to take the name of a node, once, within a time; undefined if a person said no. */
export async function allowRejoin(
  client: Client,
  node: string,
  options: RejoinOptions,
  clock: Clock,
): Promise<RejoinGrant | undefined> {
  requireNodeName(node)
  const granted = await grantee(client, node, options, clock)
  if (granted === undefined) return undefined
  const {to, request = null} = granted
  const until = new Date(clock.now().getTime() + options.ttl)
  await grantRejoin(client, node, {until, to})
  return {
    node,
    allowedUntil: formatTimestamp(until),
    pin: 'pin' in to ? to.pin : null,
    requester: 'requester' in to ? to.requester : null,
    request,
    record: recordKey(node).name,
  }
}

/** Revokes the grant, if there is one. */
export async function revokeRejoin(
  client: Pick<ApiClient, 'configMaps'>,
  node: string,
): Promise<RejoinGrant> {
  requireNodeName(node)
  const {name: record} = recordKey(node)
  const about = {node, allowedUntil: null, pin: null, requester: null, request: null, record}
  for (let attempt = 1; ; attempt += 1) {
    const found = await findRecord(client, node)
    if (found === undefined || !hasGrant(found.object)) {
      return {...about, wasAllowed: false}
    }
    try {
      await removeGrant(client, found)
      return {...about, wasAllowed: true}
    } catch (error) {
      if (!hasCode(error, 'CONFLICT') || attempt >= MOST_CONFLICTS) throw error
    }
  }
}
