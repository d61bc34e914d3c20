import {DAY, HOUR} from '../pki/support.ts'

const MINUTE = 60_000

/** A condition, and how long ago it was written; null if nobody said when. */
interface Happened {
  type: string
  age: number | null
}

export interface CleanerCase {
  name: string
  /** How long ago it was made. */
  age?: number
  conditions?: Happened[]
  certificate?: 'valid' | 'expired' | 'garbage'
  goes: boolean
}

const was = (type: string, age: number | null): Happened => ({type, age})

/** What Kubernetes' csrcleaner deletes and keeps. */
export const CLEANER_CASES: CleanerCase[] = [
  {name: 'pending for 5 h', age: 5 * HOUR, goes: false},
  {name: 'pending for 24 h', age: DAY, goes: false},
  {name: 'pending for longer', age: DAY + 1, goes: true},
  {name: 'denied 50 min ago', conditions: [was('Denied', 50 * MINUTE)], goes: false},
  {name: 'denied over an hour ago', conditions: [was('Denied', HOUR + 1)], goes: true},
  {
    name: 'failed 50 min ago',
    conditions: [was('Approved', 2 * HOUR), was('Failed', 50 * MINUTE)],
    goes: false,
  },
  {name: 'failed over an hour ago', conditions: [was('Failed', HOUR + 1)], goes: true},
  {
    name: 'approved and issued 50 min ago',
    conditions: [was('Approved', 50 * MINUTE)],
    certificate: 'valid',
    goes: false,
  },
  {
    name: 'approved and issued over an hour ago',
    conditions: [was('Approved', HOUR + 1)],
    certificate: 'valid',
    goes: true,
  },
  {name: 'approved 5 h ago and not issued', conditions: [was('Approved', 5 * HOUR)], goes: false},
  {
    name: 'approved over a day ago and not issued',
    conditions: [was('Approved', DAY + 1)],
    goes: true,
  },
  {
    name: 'issued just now, its certificate expired',
    conditions: [was('Approved', MINUTE)],
    certificate: 'expired',
    goes: true,
  },
  {
    name: 'issued just now, its certificate unreadable',
    conditions: [was('Approved', MINUTE)],
    certificate: 'garbage',
    goes: false,
  },
  {
    name: 'issued over an hour ago, its certificate unreadable',
    conditions: [was('Approved', HOUR + 1)],
    certificate: 'garbage',
    goes: true,
  },
  {
    name: 'denied at no time',
    age: 9 * DAY,
    conditions: [was('Denied', null)],
    goes: false,
  },
  {
    name: 'old, with a condition of another kind',
    age: 9 * DAY,
    conditions: [was('Seen', 9 * DAY)],
    goes: false,
  },
]
