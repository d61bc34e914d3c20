import type {CallerGroup} from '../kernel/users.ts'
import {memoryLimits, type MemoryLimits} from './memory-budget.ts'

export interface RequestLimits extends Omit<
  MemoryLimits,
  'connections' | 'exchangeBytes' | 'unsentBytes' | 'windowBytes'
> {
  /** Requests in progress, counted from when their body has arrived. */
  inFlight: number
  inFlightPerIdentity: number
  /** Requests that wait for a slot. */
  waitingPerIdentity: number
  waitingPerGroup: number
  waitMilliseconds: number
  /** For all callers without credentials, separate from the others. */
  anonymousInFlight: number
  anonymousWatches: number
  /** For one address, behind which a whole data centre may be joining. */
  anonymousPerSecond: number
  anonymousBurst: number
  /** Refused credentials of one address, to slow down guessing. */
  refusedPerSecond: number
  refusedBurst: number
}

export const DEFAULT_LIMITS: RequestLimits = {
  ...memoryLimits(),
  inFlight: 600,
  inFlightPerIdentity: 200,
  waitingPerIdentity: 100,
  waitingPerGroup: 2000,
  waitMilliseconds: 5000,
  anonymousInFlight: 400,
  anonymousWatches: 50,
  anonymousPerSecond: 1000,
  anonymousBurst: 2000,
  refusedPerSecond: 20,
  refusedBurst: 100,
}

type Parts = Record<CallerGroup, number>

/** Half of the slots are for everyone; the rest is reserved in parts for the groups. */
export const REQUEST_RESERVES: Parts = {
  nodes: 1 / 8,
  people: 1 / 8,
  serviceAccounts: 1 / 8,
  tokens: 1 / 8,
}

/** In bytes. A token can create certificate requests only, of a few kilobytes; the largest object of a node is its Node, of 256 KiB. */
export const MOST_BODY: Partial<Parts> = {
  tokens: 64 * 1024,
  nodes: 320 * 1024,
}

/** A fleet has far more watches than all others together; a token needs one for a short time. */
export const WATCH_SHARES: Parts = {
  nodes: 10 / 12,
  people: 0.5 / 12,
  serviceAccounts: 1 / 12,
  tokens: 0.5 / 12,
}

/** For request bodies and for responses. */
export const MEMORY_SHARES: Parts = {
  nodes: 1 / 4,
  people: 1 / 4,
  serviceAccounts: 1 / 4,
  tokens: 1 / 4,
}
