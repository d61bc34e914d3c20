import type {CacheState} from '../server/registry/registry.ts'
import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {VERSION} from '../version.ts'
import {parseDigests} from './server-digests.ts'
import type {IssuanceState} from './watched-log.ts'

/** What a server tells about itself in the annotations of its Lease. */
export interface OwnReport {
  /** Of its settings and CAs: see `digestsOf`. */
  digests: Record<string, string>
  /** Of its memory of the store. */
  cache: CacheState
  /** The newest line of its issuance log, and what is wrong with that log. */
  issuanceLog: IssuanceState
  /** The arrangement of a rotation that it uses; 0 if there was none. */
  generation: number
  /** Why it does not follow a rotation of another machine, if it does not. */
  rotationProblem?: string | undefined
  /** Where the other machines of the control plane reach this server itself. */
  address: string
}

/** The same as others read it. A server of an earlier version leaves things out. */
export interface KnownReport {
  version: string | null
  /** Of its memory of the store. */
  cache: KnownCache | null
  /** Of its settings and CAs, by name. */
  digests: Record<string, string>
  /** Of its issuance log, as far as it says something about it. */
  issuanceLog: IssuanceState
  /** The arrangement of a rotation that it uses; 0 if there was none. */
  generation: number
  /** Why it does not follow a rotation of another machine, if it does not. */
  rotationProblem: string | null
  /** Where the server itself is reached. */
  address: string | null
  /** The namespace with its records of node names. Null: that of earlier versions. */
  records: string | null
}

const LONGEST_PROBLEM = 500

const NAMES = {
  version: 'trustadm.io/version',
  digests: 'trustadm.io/digests',
  cache: 'trustadm.io/cache',
  issuanceLog: 'trustadm.io/issuance-log',
  generation: 'trustadm.io/ca-generation',
  rotationProblem: 'trustadm.io/ca-rotation-problem',
  address: 'trustadm.io/address',
  records: 'trustadm.io/records',
}

export const formatReport = (report: OwnReport, now: Date): Record<string, string> => ({
  [NAMES.version]: VERSION,
  [NAMES.digests]: JSON.stringify(report.digests),
  [NAMES.cache]: formatCache(report.cache, now),
  [NAMES.issuanceLog]: JSON.stringify(report.issuanceLog),
  [NAMES.generation]: String(report.generation),
  // Empty rather than absent: the annotations of the Lease are merged.
  [NAMES.rotationProblem]: (report.rotationProblem ?? '').slice(0, LONGEST_PROBLEM),
  [NAMES.address]: report.address,
  [NAMES.records]: OWN_NAMESPACE,
})

export const parseReport = (annotations: Record<string, string> = {}, now: Date): KnownReport => ({
  version: annotations[NAMES.version] ?? null,
  digests: parseDigests(annotations[NAMES.digests]),
  cache: parseCache(annotations[NAMES.cache], now),
  issuanceLog: parseDigests(annotations[NAMES.issuanceLog]),
  generation: parseGeneration(annotations[NAMES.generation]),
  rotationProblem: parseProblem(annotations[NAMES.rotationProblem]),
  address: annotations[NAMES.address] ?? null,
  records: annotations[NAMES.records] ?? null,
})

const parseProblem = (text = ''): string | null => (text === '' ? null : text)

const parseGeneration = (text = ''): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0)

/** A server's memory of the store, as its Lease shows it. */
interface KnownCache {
  /** The newest revision in it. */
  revision: number
  /** When the server last knew that it was the newest state of the store. */
  confirmedAt: string
  /** Since then. */
  ageSeconds: number
}

const LONGEST = 256

const formatCache = ({revision, age}: CacheState, now: Date): string =>
  JSON.stringify({revision, confirmedAt: new Date(now.getTime() - age).toISOString()})

/** Null if it cannot be read. */
export function parseCache(text: string | undefined, now: Date): KnownCache | null {
  if (text === undefined || text.length > LONGEST) return null
  try {
    const {revision, confirmedAt} = JSON.parse(text) as Record<string, unknown>
    if (typeof revision !== 'number' || typeof confirmedAt !== 'string') return null
    const ageSeconds = secondsSince(confirmedAt, now)
    return ageSeconds === null ? null : {revision, confirmedAt, ageSeconds}
  } catch {
    return null
  }
}

/** Whole seconds since a time; null if that is none. Clocks differ a little: never less than nothing. */
export function secondsSince(time: string | null, now: Date): number | null {
  const milliseconds = time === null ? NaN : now.getTime() - Date.parse(time)
  return Number.isNaN(milliseconds) ? null : Math.max(0, Math.floor(milliseconds / 1000))
}
