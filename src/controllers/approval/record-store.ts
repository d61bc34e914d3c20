import type {Lease} from '../../api/coordination.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
  recordKey,
  withReservation,
  type IssuedIdentity,
  type NodeRecord,
} from './node-record.ts'
import {withGrant, withoutGrant, type RejoinGrant} from './rejoin-grant.ts'

type Leases = Pick<ApiClient, 'leases'>

const MOST_CONFLICTS = 10

export async function findRecord(
  {leases}: Leases,
  node: string,
  options: CallOptions = {},
): Promise<NodeRecord | undefined> {
  const lease = await leases.find(recordKey(node), options)
  return lease && readRecord(lease)
}

/** Writes what becomes of the present Lease, or of an empty one; nothing where that is undefined. */
async function change(
  {leases}: Leases,
  node: string,
  become: (lease: Lease) => Lease | undefined,
  options: CallOptions,
): Promise<void> {
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    const present = await leases.find(recordKey(node), options)
    const wanted = become(present ?? emptyRecord(node))
    if (wanted === undefined) return
    try {
      await (present === undefined
        ? leases.create(wanted, options)
        : leases.update(wanted, options))
      return
    } catch (error) {
      if (!hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) throw error
    }
  }
  throw new TrustError('CONFLICT', `the record of node "${node}" is changed by others all the time`)
}

/** Records a certificate. */
export const saveIssued = (
  client: Leases,
  node: string,
  issued: IssuedIdentity,
  {now, ...options}: CallOptions & {now: Date},
): Promise<void> => change(client, node, (lease) => recordIssued(lease, issued, now), options)

/** Lets one more machine take the name: `certificate allow-rejoin`. */
export const grantRejoin = (
  client: Leases,
  node: string,
  grant: RejoinGrant,
  options: CallOptions = {},
): Promise<void> => change(client, node, (lease) => withGrant(lease, grant), options)

/**
 * Keeps the name for a key before it is approved, so that of several approvers, whatever each of them has seen, one alone
 * gives it away, and so that a certificate is never without a record. A grant is used up by it. False where the record
 * was changed since it was read.
 */
export async function reserveName(
  {leases}: Leases,
  {
    node,
    record,
    ...asker
  }: {node: string; pin: string; requester: string; record: NodeRecord | undefined},
  {now, ...options}: CallOptions & {now: Date},
): Promise<boolean> {
  try {
    await (record === undefined
      ? leases.create(withReservation(emptyRecord(node), asker, now), options)
      : leases.update(withReservation(record.lease, asker, now), options))
    return true
  } catch (error) {
    if (hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}

/** Takes a grant back. Fails with CONFLICT where the record was changed since it was read. */
export async function removeGrant(
  {leases}: Leases,
  {lease}: NodeRecord,
  options: CallOptions = {},
): Promise<void> {
  await leases.update(withoutGrant(lease), options)
}
