const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY_HOURS = 24
const YEAR_HOURS = 365 * DAY_HOURS

/** Two units, the second only if it is not zero. */
const pair = (major: number, minor: number, units: string) =>
  `${major}${units.charAt(0)}${minor === 0 ? '' : `${minor}${units.charAt(1)}`}`

/** Undefined if the duration is not before now; `<invalid>` beyond what clocks may differ by. */
function notPassed(milliseconds: number): string | undefined {
  const seconds = Math.trunc(milliseconds / SECOND)
  if (seconds < -1) return '<invalid>'
  return seconds < 0 ? '0s' : undefined
}

/** The age in a table's cell, with fewer units the longer it is. As Kubernetes' duration.HumanDuration. */
export function humanDuration(milliseconds: number): string {
  const early = notPassed(milliseconds)
  if (early !== undefined) return early
  const seconds = Math.trunc(milliseconds / SECOND)
  const minutes = Math.trunc(milliseconds / MINUTE)
  const hours = Math.trunc(milliseconds / HOUR)
  const days = Math.trunc(hours / DAY_HOURS)
  if (seconds < 120) return `${seconds}s`
  if (minutes < 10) return pair(minutes, seconds % 60, 'ms')
  if (minutes < 180) return `${minutes}m`
  if (hours < 8) return pair(hours, minutes % 60, 'hm')
  if (hours < 48) return `${hours}h`
  if (days < 8) return pair(days, hours % DAY_HOURS, 'dh')
  if (hours < 2 * YEAR_HOURS) return `${days}d`
  if (hours < 8 * YEAR_HOURS) return pair(Math.trunc(days / 365), days % 365, 'yd')
  return `${Math.trunc(days / 365)}y`
}

/** One unit only, as `kubeadm token list` shows a token's time to live. As duration.ShortHumanDuration. */
export function shortHumanDuration(milliseconds: number): string {
  const early = notPassed(milliseconds)
  if (early !== undefined) return early
  const seconds = Math.trunc(milliseconds / SECOND)
  const minutes = Math.trunc(milliseconds / MINUTE)
  const hours = Math.trunc(milliseconds / HOUR)
  if (seconds < 60) return `${seconds}s`
  if (minutes < 60) return `${minutes}m`
  if (hours < DAY_HOURS) return `${hours}h`
  if (hours < YEAR_HOURS) return `${Math.trunc(hours / DAY_HOURS)}d`
  return `${Math.trunc(hours / YEAR_HOURS)}y`
}

/** How long ago a timestamp was; `<unknown>` if there is none. */
export const ageOf = (timestamp: string | null | undefined, now: Date): string =>
  timestamp === undefined || timestamp === null || timestamp === ''
    ? '<unknown>'
    : humanDuration(now.getTime() - Date.parse(timestamp))
