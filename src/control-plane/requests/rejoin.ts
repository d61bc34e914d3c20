import {parseDuration} from '../../bootstrap/durations.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {recordKey} from '../../controllers/approval/node-record.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {findRecord, grantRejoin, removeGrant} from '../../controllers/approval/record-store.ts'
import {GRANT_ANNOTATION, type GrantedTo} from '../../controllers/approval/rejoin-grant.ts'
import {TrustError, hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {requireRequester, waitingFor, type WaitingRequest} from './rejoin-candidates.ts'

/** What `certificate allow-rejoin` prints. */
export interface RejoinGrant {
  node: string
  /** Null where nothing is allowed (any more). */
  allowedUntil: string | null
  /** The key that is let in; null where it is not known yet. */
  pin: string | null
  /** Whose next request is let in; null where a key is named. */
  requester: string | null
  /** The waiting request of that key. */
  request: string | null
  /** Whether there was a grant to take back; only where one is. */
  wasAllowed?: boolean
  /** The Lease that says so, in kube-system. */
  record: string
}

export interface RejoinOptions {
  /** In milliseconds. */
  ttl: number
  /** The key to let in. */
  pin?: string | undefined
  /** Whose next request to let in, where that is somebody else than before. */
  requester?: string | undefined
  /** Asks a person which of these to let in; undefined for none. Without it nobody can be asked. */
  choose?: ((waiting: readonly WaitingRequest[]) => Promise<WaitingRequest | undefined>) | undefined
}

type Client = Pick<ApiClient, 'csrs' | 'leases' | 'secrets'>

const MOST_CONFLICTS = 10
const MOST_LISTED = 20
const LONGEST_TTL = 7 * 86_400_000

function requireNodeName(node: string): void {
  if (isNodeName(node)) return
  throw new TrustError('USAGE', 'no node can have this name', {
    hints: ['a name is of small letters, digits, hyphens and dots, as in "worker-1.example.com"'],
  })
}

/** A grant without an end would be no guard at all. */
export function rejoinTtl(text: string): number {
  const ttl = parseDuration(text, '--ttl')
  if (ttl >= 1000 && ttl <= LONGEST_TTL) return ttl
  throw new TrustError('USAGE', '--ttl has to be between a second and a week', {
    hints: ['write it as in "30m" or "2h"'],
  })
}

const describe = ({name, requester, address}: WaitingRequest): string =>
  `request "${name}" of "${requester}"${address === null ? '' : ` from ${address}`}`

/** Nobody is let in just because they asked first: whoever holds a token can ask before the operator does. */
function mustChoose(node: string, waiting: readonly WaitingRequest[]): TrustError {
  const count = waiting.length === 1 ? 'a request is' : `${waiting.length} requests are`
  return new TrustError(
    'USAGE',
    `${count} waiting for the name "${node}": name the key with --pin`,
    {
      facts: {node, waiting},
      hints: [
        ...waiting.slice(0, MOST_LISTED).map((one) => `--pin ${one.pin} # ${describe(one)}`),
        ...(waiting.length > MOST_LISTED ? ['"trustadm certificate list" shows the others'] : []),
        'compare the pin with the one that "trustadm join" prints on the machine',
      ],
    },
  )
}

/** Whom to let in; undefined where a person said none. */
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

/** Lets one machine with another key take the name of a node, once, until the time is over; undefined where a person said no. */
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

/** Takes the grant back. That there is none is fine. */
export async function revokeRejoin(
  client: Pick<ApiClient, 'leases'>,
  node: string,
): Promise<RejoinGrant> {
  requireNodeName(node)
  const {name: record} = recordKey(node)
  const about = {node, allowedUntil: null, pin: null, requester: null, request: null, record}
  for (let attempt = 1; ; attempt += 1) {
    const found = await findRecord(client, node)
    if (found?.lease.metadata.annotations?.[GRANT_ANNOTATION] === undefined) {
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
