import type {Lease} from '../../api/coordination.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {expectedRecord, isAsExpected, withoutExpected} from './expected-record.ts'
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

/** Changes the stored Lease, or an empty one. Writes nothing if `become` returns undefined. */
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

/** Records a certificate. `expected` is what `reserveName` has recorded for it in advance. */
export async function saveIssued(
  client: Leases,
  node: string,
  issued: IssuedIdentity,
  {now, expected, ...options}: CallOptions & {now: Date; expected?: Lease | undefined},
): Promise<void> {
  if (expected !== undefined && isAsExpected(expected, issued)) return
  const become = (lease: Lease) =>
    recordIssued(isSame(lease, expected) ? {...lease, spec: {}} : lease, issued, now)
  await change(client, node, become, options)
}

/** Reserves a name for its key for a while only, because nobody knows whether the expected certificate exists. */
export const doubtExpected = (
  client: Leases,
  node: string,
  {expected, pin, requester}: Expectation,
  {now, ...options}: CallOptions & {now: Date},
): Promise<void> =>
  change(
    client,
    node,
    (lease) =>
      isSame(lease, expected) ? withoutExpected(lease, {pin, requester}, now) : undefined,
    options,
  )

const isSame = (lease: Lease, other: Lease | undefined): boolean =>
  other !== undefined && lease.metadata.resourceVersion === other.metadata.resourceVersion

/** Lets one more machine take the name: `certificate allow-rejoin`. */
export const grantRejoin = (
  client: Leases,
  node: string,
  grant: RejoinGrant,
  options: CallOptions = {},
): Promise<void> => change(client, node, (lease) => withGrant(lease, grant), options)

/** Who is about to get a certificate for a name, and the name's record. */
export interface Expectation {
  pin: string
  requester: string
  expected: Lease
}

interface Reservation {
  node: string
  pin: string
  requester: string
  record: NodeRecord | undefined
  /** The name of the CA that will sign; undefined if it is elsewhere. */
  issuer: string | undefined
  /** The certificate's lifetime, in milliseconds. */
  lifetime: number
}

/**
 * Reserves the name for a key before the request is approved. Of several approvers only one can do so, whatever each of them
 * has seen, and no certificate exists without a record. This uses up a grant. A new name is recorded as if its certificate
 * existed already, and that record is returned. Returns false if the record has changed since it was read.
 */
export async function reserveName(
  {leases}: Leases,
  {node, record, lifetime, issuer, ...asker}: Reservation,
  {now, ...options}: CallOptions & {now: Date},
): Promise<{expectation?: Expectation} | false> {
  try {
    if (record !== undefined) {
      await leases.update(withReservation(record.lease, asker, now), options)
      return {}
    }
    const wanted = expectedRecord(node, {...asker, issuer}, lifetime, now)
    return {expectation: {...asker, expected: await leases.create(wanted, options)}}
  } catch (error) {
    if (hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}

/** Revokes a grant. Fails with CONFLICT if the record has changed since it was read. */
export async function removeGrant(
  {leases}: Leases,
  {lease}: NodeRecord,
  options: CallOptions = {},
): Promise<void> {
  await leases.update(withoutGrant(lease), options)
}
