import type {CacheState} from '../server/registry/registry.ts'
import {secondsSince} from './seconds-since.ts'

/** A server's memory of the store, as its Lease shows it. */
export interface KnownCache {
  /** The newest revision in it. */
  revision: number
  /** When the server last knew that it was the newest state of the store. */
  confirmedAt: string
  /** Since then. */
  ageSeconds: number
}

const LONGEST = 256

export const formatCache = ({revision, age}: CacheState, now: Date): string =>
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
