import {span} from '../../discovery/validity.ts'
import {TrustError} from '../../errors.ts'
import {formatTimestamp, type Clock} from '../../runtime.ts'

/** What is said about a clock begins here, in milliseconds: that of many machines is some seconds off. */
const NOTABLE = 300_000
/** The server's time has whole seconds. */
const SECOND = 1000

/** How far the clock of this machine was ahead, and when, by that clock. */
export interface ClockLead {
  seconds: number
  at: string
}

/**
 * The time as the server has it, as far as its answers say. It is used where this machine's clock is ahead, and would make what the
 * cluster has just issued seem due or expired. Times are those of verified connections: a server that lies could refuse the node as well.
 */
export class ServerClock implements Clock {
  readonly #clock: Clock
  readonly #onChange: (lead: ClockLead | undefined) => void
  #seen = {ahead: 0, at: 0}
  #told = 0

  /** `onChange` is called when the clock is notably ahead, when that changes, and with undefined once it is not any more. */
  constructor(clock: Clock, onChange: (lead: ClockLead | undefined) => void = () => undefined) {
    this.#clock = clock
    this.#onChange = onChange
  }

  /** What an earlier process has seen, which counts until the server answers. */
  restore({seconds, at}: ClockLead): void {
    this.#seen = {ahead: seconds * SECOND, at: Date.parse(at)}
    this.#told = this.#seen.ahead
  }

  /** Takes the server's time from an answer to a request that was begun so many milliseconds before. */
  see(serverTime: Date, elapsed: number): void {
    const now = this.#clock.now().getTime()
    // Rather too little: the answer may have been on its way, or unread, for long.
    const ahead = Math.max(0, now - elapsed - serverTime.getTime() - SECOND)
    this.#seen = {ahead, at: now}
    const isNews = ahead >= NOTABLE ? Math.abs(ahead - this.#told) >= NOTABLE : this.#told > 0
    if (!isNews) return
    this.#told = ahead >= NOTABLE ? ahead : 0
    this.#onChange(this.lead)
  }

  /** How many milliseconds this machine's clock is ahead, at least. One that was set back since then counts as right. */
  get ahead(): number {
    const {ahead, at} = this.#seen
    return this.#clock.now().getTime() >= at ? ahead : 0
  }

  /** The same if it is worth a word. */
  get lead(): ClockLead | undefined {
    const {ahead} = this
    if (ahead < NOTABLE) return undefined
    const at = formatTimestamp(new Date(this.#seen.at))
    return {seconds: Math.floor(ahead / SECOND), at}
  }

  now(): Date {
    return new Date(this.#clock.now().getTime() - this.ahead)
  }
}

/** `the clock of this machine is 330 days ahead of the server's` */
export const clockAhead = (milliseconds: number): string =>
  `the clock of this machine is ${span(milliseconds)} ahead of the server's`

/** Why a certificate that seems due is not renewed: it was issued a moment ago by the server's clock. */
export function tooEarly(ahead: number, now: Date, kind: 'client' | 'serving'): TrustError {
  return new TrustError(
    'CLOCK_SKEWED',
    `${clockAhead(ahead)}: this machine shows ${formatTimestamp(now)}, so that the new ${kind} certificate seems due already; it is renewed when it is due by the server's clock`,
    {
      facts: {aheadSeconds: Math.floor(ahead / SECOND)},
      hints: ['set the clock of this machine, preferably with NTP'],
    },
  )
}
