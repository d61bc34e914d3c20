import type {Lease} from '../api/coordination.ts'
import type {ConfigMap} from '../api/core.ts'
import {parseTimestamp} from '../bootstrap/timestamp.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode, messageOf} from '../errors.ts'
import {formatTimestamp, sleep} from '../runtime.ts'
import {noOwnNamespace, OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {emptyRecord, RECORD_LABEL} from './approval/node-record.ts'
import {HEADS_ANNOTATION} from './signing/shared-heads.ts'

type Client = Pick<ApiClient, 'configMaps' | 'leases' | 'namespaces'>

const OLD_NAMESPACE = 'kube-system'
/** Exists since the records were carried over: from then on, those in kube-system count for nothing. */
const MARK = {namespace: OWN_NAMESPACE, name: 'trustadm-records'}
const MOVED = `moved to ${OWN_NAMESPACE}`
const FOREVER = 2 ** 31 - 1
/** A leader of an earlier release has stopped by then: it renews every 2 s, and gives up after 10 s without an answer. */
const UNTIL_STOPPED = 15_000
const AT_A_TIME = 32
const RETRY_AFTER = 2000
const MOST_CONFLICTS = 10

interface CarryOptions {
  log: (line: string) => void
  signal?: AbortSignal | undefined
  /** Milliseconds for leaders of an earlier release to stop. */
  patience?: number | undefined
}

/**
 * The first start of this release copies the records of names, and the heads of issuance logs, from the Leases in kube-system, where earlier releases
 * keep them. Before, it takes the Leases by which those elect a leader, for good, so that none of them approves by its own records afterwards. Several
 * processes may do this at the same time.
 */
export async function carryOverRecords(
  client: Client,
  {log, signal, patience = UNTIL_STOPPED}: CarryOptions,
): Promise<void> {
  const {configMaps} = client
  if (await configMaps.find(MARK, {signal})) return
  await createNamespace(client, signal)
  const elections = (await oldLeases(client, signal)).filter(isElection)
  for (const lease of elections) await takeForGood(client, lease, signal)
  const isLed = elections.some(({spec}) => (spec?.holderIdentity ?? '') !== '')
  if (isLed) {
    log('waiting until controllers of an earlier release have stopped')
    await sleep(patience, signal)
  }
  const leases = await oldLeases(client, signal)
  // Listed before this look: whatever is written after another process has finished does not count.
  if (await configMaps.find(MARK, {signal})) return
  for (const lease of leases.filter(isElection)) await carryHeads(client, lease, signal)
  const records = leases.filter(({metadata}) => RECORD_LABEL in (metadata.labels ?? {}))
  for (let at = 0; at < records.length; at += AT_A_TIME) {
    const some = records.slice(at, at + AT_A_TIME)
    await Promise.all(some.map((lease) => createOnce(configMaps, toRecord(lease), signal)))
  }
  await createOnce(configMaps, {metadata: MARK, data: {carriedOver: `${records.length}`}}, signal)
  if (records.length === 0) return
  log(`records of node names carried over from kube-system: ${records.length}`)
}

/** As `carryOverRecords`, again and again until it succeeds: nobody gets a name before. */
export async function untilCarriedOver(
  client: Client,
  options: CarryOptions & {signal: AbortSignal; pause?: number},
): Promise<void> {
  const {log, signal, pause = RETRY_AFTER} = options
  for (;;) {
    try {
      await carryOverRecords(client, options)
      return
    } catch (error) {
      signal.throwIfAborted()
      log(`error: no controllers yet: cannot read the records of node names: ${messageOf(error)}`)
    }
    await sleep(pause, signal)
  }
}

async function createNamespace({namespaces}: Client, signal?: AbortSignal): Promise<void> {
  try {
    if (await namespaces.find(OWN_NAMESPACE, {signal})) return
    await namespaces.create({metadata: {name: OWN_NAMESPACE}}, {signal})
  } catch (error) {
    // If it is missing and this is forbidden, the first object that is created there says so.
    if (!hasCode(error, 'ALREADY_EXISTS', 'FORBIDDEN')) throw error
  }
}

async function oldLeases({leases}: Client, signal?: AbortSignal): Promise<Lease[]> {
  return (await leases.list({namespace: OLD_NAMESPACE, signal})).items
}

const isElection = ({metadata: {name = ''}}: Lease): boolean =>
  name === 'trustadm-serve' || name.startsWith('trustadm-controllers-')

/** What earlier releases wrote into annotations, and what it is called now. */
const FIELDS = {
  'trustadm.io/issuer': 'issuer',
  'trustadm.io/requester': 'requester',
  'trustadm.io/reserved-for': 'reservedFor',
  'trustadm.io/reserved-until': 'reservedUntil',
  'trustadm.io/rejoin-allowed-until': 'rejoinUntil',
  'trustadm.io/rejoin-allowed-key': 'rejoinKey',
  'trustadm.io/rejoin-allowed-requester': 'rejoinRequester',
  'trustadm.io/rejoin-allowed-after': 'rejoinAfter',
}

function toRecord({metadata: {name = '', annotations = {}}, spec = {}}: Lease): ConfigMap {
  const {holderIdentity: holder, acquireTime, renewTime, leaseDurationSeconds = NaN} = spec
  const issuedAt = parseTimestamp(acquireTime ?? '')
  const renewedAt = parseTimestamp(renewTime ?? '')?.getTime() ?? NaN
  const expiresAt = new Date(renewedAt + leaseDurationSeconds * 1000)
  const {metadata, data} = emptyRecord(annotations['trustadm.io/node-name'] ?? '')
  const noted = Object.entries(FIELDS).flatMap(([annotation, field]) => {
    const value = annotations[annotation]
    return value === undefined ? [] : [[field, value]]
  })
  return {
    metadata: {...metadata, name},
    data: {
      ...data,
      ...(holder !== undefined && {holder}),
      ...(issuedAt !== undefined && {issuedAt: formatTimestamp(issuedAt)}),
      // A missing one counts as never.
      ...(!Number.isNaN(expiresAt.getTime()) && {expiresAt: formatTimestamp(expiresAt)}),
      ...(Object.fromEntries(noted) as Record<string, string>),
    },
  }
}

/** Earlier releases wait as long as the Lease says. */
async function takeForGood({leases}: Client, lease: Lease, signal?: AbortSignal): Promise<void> {
  let found: Lease | undefined = lease
  for (let attempt = 1; found !== undefined; attempt += 1) {
    if (found.spec?.holderIdentity === MOVED) return
    const spec = {...found.spec, holderIdentity: MOVED, leaseDurationSeconds: FOREVER}
    try {
      await leases.update({...found, spec}, {signal})
      return
    } catch (error) {
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND') || attempt === MOST_CONFLICTS) throw error
    }
    const {namespace = '', name = ''} = lease.metadata
    found = await leases.find({namespace, name}, {signal})
  }
}

/** What the issuance logs had at last: evidence against one that has become shorter. */
async function carryHeads({leases}: Client, old: Lease, signal?: AbortSignal): Promise<void> {
  const {name = '', annotations: {[HEADS_ANNOTATION]: heads} = {}} = old.metadata
  if (heads === undefined) return
  const key = {namespace: OWN_NAMESPACE, name}
  for (let attempt = 1; ; attempt += 1) {
    const found = await leases.find(key, {signal})
    if (found?.metadata.annotations?.[HEADS_ANNOTATION] !== undefined) return
    const annotations = {...found?.metadata.annotations, [HEADS_ANNOTATION]: heads}
    const metadata = {...(found?.metadata ?? key), annotations}
    try {
      await (found
        ? leases.update({...found, metadata}, {signal})
        : leases.create({metadata, spec: {}}, {signal}))
      return
    } catch (error) {
      if (!hasCode(error, 'CONFLICT', 'ALREADY_EXISTS') || attempt === MOST_CONFLICTS) throw error
    }
  }
}

async function createOnce(
  configMaps: Client['configMaps'],
  object: ConfigMap,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await configMaps.create(object, {signal})
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) throw noOwnNamespace(error)
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}
