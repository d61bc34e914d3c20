import {createHash, randomUUID} from 'node:crypto'
import {hostname} from 'node:os'
import type {Lease} from '../api/coordination.ts'
import {formatMicroTime} from '../bootstrap/timestamp.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {sleep, type Clock} from '../runtime.ts'
import {
  formatReport,
  type KnownReport,
  type OwnReport,
  parseReport,
  secondsSince,
} from './lease-report.ts'

const NAMESPACE = 'kube-system'
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity'
const COMPONENT = 'kube-apiserver'
const HOSTNAME_LABEL = 'kubernetes.io/hostname'

/** The times of kube-apiserver. */
const RENEW_EVERY = 10_000
const LEASE_SECONDS = 3600
const COLLECT_EVERY = 3_600_000
/** A server that has missed this much is shown as silent. Longer than its clock may differ. */
const SILENT_AFTER = 40_000
/** A stopping server does not wait longer for a store that is away. */
const REMOVE_WITHIN = 2_000

type Leases = Pick<ApiClient, 'leases'>

interface IdentityOptions {
  /** Stays the same after a restart; no other server has it. */
  identity: string
  /** What it tells about itself now. */
  report: () => OwnReport
  clock: Clock
  onError: (error: unknown) => void
}

/** A server of the control plane, as its Lease shows it. */
export interface KnownServer extends KnownReport {
  /** Of its Lease. */
  name: string
  hostname: string | null
  startedAt: string | null
  renewedAt: string | null
  /** Since its start; null if that is unknown. */
  ageSeconds: number | null
  /** Since its last renewal. */
  silentSeconds: number | null
  /** Whether it has renewed its Lease lately. */
  alive: boolean
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** `apiserver-` and 26 characters: kube-apiserver's form, a hash in base32. */
export function leaseNameOf(identity: string): string {
  const hash = createHash('sha256').update(identity).digest().subarray(0, 16)
  const bits = Array.from(hash, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  const letters = groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)])
  return `apiserver-${letters.join('')}`
}

/**
 * Keeps the Lease of this server, and deletes those of servers that are gone, as kube-apiserver does. `shown` is fulfilled
 * after the first attempt. `refresh` renews the Lease at once. `stop` also deletes it: whoever waits for all servers need not wait
 * for one that was stopped.
 */
export function startIdentity(
  client: Leases,
  {identity, report, clock, onError}: IdentityOptions,
): {shown: Promise<void>; refresh(): void; stop(): Promise<void>} {
  const name = leaseNameOf(identity)
  const holder = `${name}_${randomUUID()}`
  const started = clock.now()
  const stopping = new AbortController()
  const {signal} = stopping
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      // Somebody else changed or deleted it: the next renewal sees that.
      if (!signal.aborted && !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND'))
        onError(error)
    }
  }
  let refreshing = new AbortController()
  const renewOnce = () => {
    refreshing = new AbortController()
    return attempt(() => renew(client, {name, holder, started, report, clock, signal}))
  }
  const shown = renewOnce()
  const follow = async () => {
    await shown
    for (let collectedAt = -Infinity; !signal.aborted; await renewOnce()) {
      if (performance.now() - collectedAt >= COLLECT_EVERY) {
        collectedAt = performance.now()
        await attempt(() => collectExpired(client, clock, signal))
      }
      await sleep(RENEW_EVERY, refreshing.signal).catch(() => undefined)
    }
  }
  const ended = follow()
  return {
    shown,
    refresh: () => refreshing.abort(),
    async stop() {
      stopping.abort(new Error('the server is stopping'))
      refreshing.abort()
      await ended
      await remove(client, name, holder).catch(onError)
    },
  }
}

interface Renewal {
  name: string
  holder: string
  started: Date
  report: () => OwnReport
  clock: Clock
  signal: AbortSignal
}

async function renew(
  {leases}: Leases,
  {name, holder, started, report, clock, signal}: Renewal,
): Promise<void> {
  const found = await leases.find({namespace: NAMESPACE, name}, {signal})
  const lease: Lease = {
    ...found,
    metadata: {
      ...(found?.metadata ?? {namespace: NAMESPACE, name}),
      labels: {
        ...found?.metadata.labels,
        [IDENTITY_LABEL]: COMPONENT,
        [HOSTNAME_LABEL]: hostLabel(),
      },
      annotations: {
        ...found?.metadata.annotations,
        ...formatReport(report(), clock.now()),
      },
    },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: formatMicroTime(started),
      renewTime: formatMicroTime(clock.now()),
    },
  }
  if (found) await leases.update(lease, {signal})
  else await leases.create(lease, {signal})
}

/** A name of a host may be longer than a label. */
const hostLabel = (): string =>
  hostname()
    .slice(0, 63)
    .replace(/[^a-z0-9]+$/i, '')

/** Not if the next process with this identity has it already. */
async function remove({leases}: Leases, name: string, holder: string): Promise<void> {
  const signal = AbortSignal.timeout(REMOVE_WITHIN)
  const found = await leases.find({namespace: NAMESPACE, name}, {signal})
  if (found?.spec?.holderIdentity !== holder) return
  const {uid, resourceVersion} = found.metadata
  await leases.delete({namespace: NAMESPACE, name}, {uid, resourceVersion, signal})
}

const listLeases = async ({leases}: Leases, signal?: AbortSignal): Promise<Lease[]> => {
  const labelSelector = `${IDENTITY_LABEL}=${COMPONENT}`
  return (await leases.list({namespace: NAMESPACE, labelSelector, signal})).items
}

/** Deletes the Leases of servers that have not renewed them in time. */
export async function collectExpired(
  client: Leases,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  for (const {metadata, spec} of await listLeases(client, signal)) {
    const {renewTime, leaseDurationSeconds: stated = LEASE_SECONDS} = spec ?? {}
    // Others may write these Leases: none lasts longer than a server's own.
    const leaseDurationSeconds = Math.min(stated, LEASE_SECONDS)
    const age = renewTime ? clock.now().getTime() - Date.parse(renewTime) : Infinity
    if (age <= leaseDurationSeconds * 1000) continue
    const {name = '', uid, resourceVersion} = metadata
    try {
      await client.leases.delete({namespace: NAMESPACE, name}, {uid, resourceVersion, signal})
    } catch (error) {
      // Renewed in the meantime, or deleted by another server.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
  }
}

/** All servers that have a Lease, the oldest first. */
export async function readServers(client: Leases, clock: Clock): Promise<KnownServer[]> {
  const now = clock.now()
  const servers = (await listLeases(client)).map((lease) => toServer(lease, now))
  return servers.sort((one, next) => (next.ageSeconds ?? 0) - (one.ageSeconds ?? 0))
}

/** A server as its Lease shows it. */
export function toServer({metadata, spec = {}}: Lease, now: Date): KnownServer {
  const startedAt = spec.acquireTime ?? metadata.creationTimestamp ?? null
  const renewedAt = spec.renewTime ?? null
  const silentSeconds = secondsSince(renewedAt, now)
  return {
    name: metadata.name ?? '',
    hostname: metadata.labels?.[HOSTNAME_LABEL] ?? null,
    startedAt,
    renewedAt,
    ageSeconds: secondsSince(startedAt, now),
    silentSeconds,
    alive: silentSeconds !== null && silentSeconds < SILENT_AFTER / 1000,
    ...parseReport(metadata.annotations, now),
  }
}

/** Whether a Lease is that of a server. */
export const isServerLease = ({metadata}: Lease): boolean =>
  metadata.labels?.[IDENTITY_LABEL] === COMPONENT
