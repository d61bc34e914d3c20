import {readFileSync} from 'node:fs'

/** What a process uses, as Linux counts it. */
export interface Usage {
  /** Resident bytes: now, and of that what is no file of the disk. */
  resident: number
  anonymous: number
  /** The most that was ever resident. */
  peak: number
  /** Seconds on a processor, all threads together. */
  processor: number
  /** Seconds that its first thread was ready to run and got no processor. */
  waited: number
}

const TICKS = 100
const KIB = 1024

/** Undefined once there is no such process. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may hold blanks.
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    const [, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    if (Number.isNaN(field('VmRSS'))) return undefined
    return {
      resident: field('VmRSS') * KIB,
      anonymous: field('RssAnon') * KIB,
      peak: field('VmHWM') * KIB,
      processor: (user + system) / TICKS,
      waited: waited / 1e9,
    }
  } catch {
    return undefined
  }
}
