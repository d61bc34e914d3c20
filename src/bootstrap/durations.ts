import {TrustError} from '../errors.ts'

const MILLISECONDS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)'
/** Far longer than any duration that is used. */
const MOST_CHARACTERS = 128
const UNIT = '(?:ns|us|µs|μs|ms|s|m|h)'
const WHOLE = new RegExp(`^\\+?(?:0|(?:${NUMBER}${UNIT})+)$`)
const PART = new RegExp(`(${NUMBER})(${UNIT})`, 'g')
/** The maximum of Go's 64-bit nanoseconds. */
const LONGEST = 2 ** 63 / 1e6

/** Milliseconds of a duration in Go's format: `24h`, `1h30m`, `0`. Negative ones are refused: they have no meaning here. */
export function parseDuration(text: string, what: string): number {
  if (text.length > MOST_CHARACTERS || !WHOLE.test(text)) throw notADuration(what)
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(PART)) {
    total += Number(amount) * (MILLISECONDS[unit] ?? 0)
  }
  if (total >= LONGEST) throw notADuration(what)
  // Zero means "no limit", so a duration below a millisecond must not be rounded to it.
  return total > 0 ? Math.max(1, Math.round(total)) : 0
}

const DAYS = /^(\d{1,6})d/

/** The same with days in front, which Go does not know: `30d`, `1d12h`. For flags of our own. */
export function parseSpan(text: string, what: string): number {
  const [matched = '', days = '0'] = DAYS.exec(text) ?? []
  const rest = text.slice(matched.length)
  const ofDays = Number(days) * 24 * (MILLISECONDS.h ?? 0)
  return ofDays + (matched !== '' && rest === '' ? 0 : parseDuration(rest, what))
}

/** As Go prints it: `24h0m0s`, `1m30s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0) return `-${formatDuration(-milliseconds)}`
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`
  const minutes = Math.floor(milliseconds / 60_000)
  const seconds = `${(milliseconds % 60_000) / 1000}s`
  if (minutes === 0) return seconds
  return minutes < 60
    ? `${minutes}m${seconds}`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

/** The text is not shown: it may be a token in the wrong place. */
function notADuration(what: string): TrustError {
  return new TrustError('USAGE', `${what} is not a valid duration`, {
    hints: ['use a duration such as "24h", "90m" or "1h30m"'],
  })
}
