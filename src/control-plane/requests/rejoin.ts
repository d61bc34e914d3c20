import {parseDuration} from '../../bootstrap/durations.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {isNodeName, recordKey} from '../../controllers/approval/node-record.ts'
import {findRecord, grantRejoin, removeGrant} from '../../controllers/approval/record-store.ts'
import {TrustError, hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

/** What `certificate allow-rejoin` prints. */
export interface RejoinGrant {
  node: string
  /** Null where nothing is allowed (any more). */
  allowedUntil: string | null
  /** Whether there was a grant to take back; only where one is. */
  wasAllowed?: boolean
  /** The Lease that says so, in kube-system. */
  record: string
}

type Leases = Pick<ApiClient, 'leases'>

const MOST_CONFLICTS = 10
const LONGEST_TTL = 7 * 86_400_000

function requireNodeName(node: string): void {
  if (isNodeName(node)) return
  throw new TrustError('USAGE', 'no node can have this name', {
    hints: ['a name is of small letters, digits, hyphens and dots, as in "worker-1.example.com"'],
  })
}

/** Allowed for ever would be no guard at all. */
export function rejoinTtl(text: string): number {
  const ttl = parseDuration(text, '--ttl')
  if (ttl >= 1000 && ttl <= LONGEST_TTL) return ttl
  throw new TrustError('USAGE', '--ttl has to be between a second and a week', {
    hints: ['write it as in "30m" or "2h"'],
  })
}

/** Lets one machine with another key take the name of a node, once, until the time is over. */
export async function allowRejoin(
  client: Leases,
  node: string,
  ttl: number,
  clock: Clock,
): Promise<RejoinGrant> {
  requireNodeName(node)
  const until = new Date(clock.now().getTime() + ttl)
  await grantRejoin(client, node, until)
  return {node, allowedUntil: formatTimestamp(until), record: recordKey(node).name}
}

/** Takes the grant back. That there is none is fine. */
export async function revokeRejoin(client: Leases, node: string): Promise<RejoinGrant> {
  requireNodeName(node)
  const about = {node, allowedUntil: null, record: recordKey(node).name}
  for (let attempt = 1; ; attempt += 1) {
    const record = await findRecord(client, node)
    if (record?.allowedUntil === undefined) return {...about, wasAllowed: false}
    try {
      await removeGrant(client, record)
      return {...about, wasAllowed: true}
    } catch (error) {
      if (!hasCode(error, 'CONFLICT') || attempt >= MOST_CONFLICTS) throw error
    }
  }
}
