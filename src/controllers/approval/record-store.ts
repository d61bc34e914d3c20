import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {noOwnNamespace} from '../../trust/own-namespace.ts'
import {expectedRecord, isAsExpected, withoutExpected} from './expected-record.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
  recordKey,
  withNewestInUse,
  withoutCertificate,
  withReservation,
  type IssuedIdentity,
  type NodeRecord,
} from './node-record.ts'
import {withGrant, withoutGrant, type RejoinGrant} from './rejoin-grant.ts'

type Client = Pick<ApiClient, 'configMaps'>

const MOST_CONFLICTS = 10

export async function findRecord(
  {configMaps}: Client,
  node: string,
  options: CallOptions = {},
): Promise<NodeRecord | undefined> {
  const object = await configMaps.find(recordKey(node), options)
  return object && readRecord(object)
}

/** What is created is refused as "not found" only if its namespace is missing. */
function requireNamespace(present: object | undefined, error: unknown): void {
  if (present !== undefined || !hasCode(error, 'NOT_FOUND')) return
  throw noOwnNamespace(error)
}

/** Changes the stored ConfigMap, or an empty one. Writes nothing if `become` returns undefined. */
async function change(
  {configMaps}: Client,
  node: string,
  become: (object: ConfigMap) => ConfigMap | undefined,
  options: CallOptions,
): Promise<void> {
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    const present = await configMaps.find(recordKey(node), options)
    const wanted = become(present ?? emptyRecord(node))
    if (wanted === undefined) return
    try {
      await (present === undefined
        ? configMaps.create(wanted, options)
        : configMaps.update(wanted, options))
      return
    } catch (error) {
      requireNamespace(present, error)
      if (!hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) throw error
    }
  }
  throw new TrustError('CONFLICT', `the record of node "${node}" is changed by others all the time`)
}

/** Records a certificate. `expected` is what `reserveName` has recorded for it in advance. */
export async function saveIssued(
  client: Client,
  node: string,
  issued: IssuedIdentity,
  {now, expected, ...options}: CallOptions & {now: Date; expected?: ConfigMap | undefined},
): Promise<void> {
  if (expected !== undefined && isAsExpected(expected, issued)) return
  const become = (object: ConfigMap) =>
    recordIssued(isSame(object, expected) ? withoutCertificate(object) : object, issued, now)
  await change(client, node, become, options)
}

/** Reserves a name for its key for a while only, because nobody knows whether the expected certificate exists. */
export const doubtExpected = (
  client: Client,
  node: string,
  {expected, pin, requester}: Expectation,
  {now, ...options}: CallOptions & {now: Date},
): Promise<void> =>
  change(
    client,
    node,
    (object) =>
      isSame(object, expected) ? withoutExpected(object, {pin, requester}, now) : undefined,
    options,
  )

/** Once the newest certificate has been seen in use, the key before it has no claim any more. */
export const saveNewestInUse = (
  client: Client,
  node: string,
  {holder, issuedAt}: Pick<NodeRecord, 'holder' | 'issuedAt'>,
  options: CallOptions = {},
): Promise<void> =>
  change(
    client,
    node,
    (object) => {
      const now = readRecord(object)
      const isNewest = now.holder === holder && now.issuedAt?.getTime() === issuedAt?.getTime()
      return isNewest ? withNewestInUse(object) : undefined
    },
    options,
  )

const isSame = (object: ConfigMap, other: ConfigMap | undefined): boolean =>
  other !== undefined && object.metadata.resourceVersion === other.metadata.resourceVersion

/** Lets one more machine take the name: `certificate allow-rejoin`. */
export const grantRejoin = (
  client: Client,
  node: string,
  grant: RejoinGrant,
  options: CallOptions = {},
): Promise<void> => change(client, node, (object) => withGrant(object, grant), options)

/** Who is about to get a certificate for a name, and the name's record. */
export interface Expectation {
  pin: string
  requester: string
  expected: ConfigMap
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
  {configMaps}: Client,
  {node, record, lifetime, issuer, ...asker}: Reservation,
  {now, ...options}: CallOptions & {now: Date},
): Promise<{expectation?: Expectation} | false> {
  try {
    if (record !== undefined) {
      await configMaps.update(withReservation(record.object, asker, now), options)
      return {}
    }
    const wanted = expectedRecord(node, {...asker, issuer}, lifetime, now)
    return {expectation: {...asker, expected: await configMaps.create(wanted, options)}}
  } catch (error) {
    requireNamespace(record, error)
    if (hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}

/** Revokes a grant. Fails with CONFLICT if the record has changed since it was read. */
export async function removeGrant(
  {configMaps}: Client,
  {object}: NodeRecord,
  options: CallOptions = {},
): Promise<void> {
  await configMaps.update(withoutGrant(object), options)
}
