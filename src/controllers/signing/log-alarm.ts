import {printable} from '../../client/printable.ts'
import type {LogHead} from '../../csr/log-head.ts'
import type {Clock} from '../../runtime.ts'

/** What became of the heads that witnesses handed in. */
export type HeadResult = 'there' | 'lost' | 'unknown'

/** In milliseconds: of each kind, one line of the server's log is enough in that time. */
const QUIET = 60_000

/** Reports a log that lacks a line which somebody has seen. Anyone can hand in heads, so what it writes is limited. */
export class LogAlarm {
  readonly counts: Record<HeadResult, number> = {there: 0, lost: 0, unknown: 0}
  readonly #log: (line: string) => void
  readonly #check: string
  readonly #clock: Clock
  readonly #quiet = new Map<HeadResult, number>()
  #problem: string | undefined

  /** `check` is the command that checks the log. */
  constructor(log: (line: string) => void, check: string, clock: Clock) {
    this.#log = log
    this.#check = check
    this.#clock = clock
  }

  /** What is wrong with the log, since this process started. */
  get problem(): string | undefined {
    return this.#problem
  }

  isThere(): void {
    this.counts.there += 1
  }

  /** A line that this signer has given out is gone. Returns whether it was logged: false if one was a short time ago. */
  isLost(witness: string, {hash}: LogHead): boolean {
    const found = `the issuance log lacks a line that ${printable(witness)} has seen, with the hash ${hash}: it was cut off, rewritten or replaced`
    this.#problem = found
    const next = `compare it with a copy, and check it with "${this.#check}"`
    return this.#report('lost', `error: ${found}; ${next}`)
  }

  /** Nobody here has given that out. It may be of a log that was deleted together with its key. */
  isUnknown(witness: string): void {
    this.#report(
      'unknown',
      `warning: ${printable(witness)} reports a head that is not in the issuance log, and that no known signer has given out`,
    )
  }

  #report(kind: HeadResult, line: string): boolean {
    this.counts[kind] += 1
    const now = this.#clock.now().getTime()
    const until = this.#quiet.get(kind) ?? -Infinity
    // A clock that was set back must not silence it.
    if (now < until && until - now <= QUIET) return false
    this.#quiet.set(kind, now + QUIET)
    this.#log(line)
    return true
  }
}
