import type {Dispatch} from './generator/orders.ts'
import type {WaitSummary} from './honest/waits.ts'

/** What nobody honest may be put through. */
export interface Bounds {
  /** Milliseconds of a request. */
  wait: number
  /** Resident bytes. */
  memory: number
}

const BOUNDS: Bounds = {wait: 1000, memory: 400 * 2 ** 20}

/** Connections of honest clients that stay open. */
export const HONEST_DESCRIPTORS = 8

/** What a run has found. */
export interface Findings {
  seconds: number
  attacks: Dispatch
  waits: WaitSummary[]
  /** Of honest requests that were refused, the first few. */
  refusals: string[]
  /** Acknowledged writes; what was lost of them, before and after a restart. */
  writes: number
  lost: string[]
  /** Bytes and seconds of the server. */
  peak: number
  anonymous: number
  processor: number
  waited: number
  /** Seconds on a processor of the attackers, and the longest delay of the honest clients' own process in milliseconds. */
  generators: number
  ownDelay: number
  /** Milliseconds; undefined where the server had ended, or never was ready again. */
  restart: number | undefined
  /** That the server had open before the attack, and has after it. */
  descriptors: {before: number; after: number}
  /** What else went wrong: the server ended, a log does not verify. */
  faults: string[]
}

/** Why the run has failed; nothing where it has not. */
export function failuresOf(findings: Findings, {wait, memory}: Bounds = BOUNDS): string[] {
  const {waits, refusals, lost, peak, attacks, descriptors, faults} = findings
  const refused = waits.reduce((sum, one) => sum + one.refused, 0)
  return [
    ...faults,
    ...waits
      .filter(({longest}) => longest > wait)
      .map(({what, longest}) => `somebody honest waited ${Math.round(longest)} ms (${what})`),
    ...(refused > 0 ? [`${refused} honest requests were refused: ${refusals.join('; ')}`] : []),
    ...(waits.length === 0 ? ['no honest request was answered'] : []),
    ...(peak > memory ? [`the server took ${Math.round(peak / 2 ** 20)} MiB`] : []),
    ...(descriptors.after > descriptors.before + HONEST_DESCRIPTORS
      ? [`the server kept ${descriptors.after - descriptors.before} descriptors`]
      : []),
    ...(lost.length > 0
      ? [`${lost.length} acknowledged writes were lost: ${lost.slice(0, 5).join('; ')}`]
      : []),
    ...Object.entries(attacks).flatMap(([name, {breaches}]) =>
      breaches.map((breach) => `${name}: ${breach}`),
    ),
  ]
}
