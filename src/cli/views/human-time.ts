const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** The time left, in the unit that kubeadm would use. */
export function residual(seconds: number | null): string {
  if (seconds === null) return '<none>'
  if (seconds < 0) return '<invalid>'
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`
  return `${Math.floor(seconds / YEAR)}y`
}

/** `Nov 16, 2027 02:57 UTC`, as kubeadm prints when a certificate expires. */
export function moment(iso: string | null): string {
  if (iso === null) return '<none>'
  const parts = new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: '2-digit',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
  }).formatToParts(new Date(iso))
  const get = (wanted: string) => parts.find(({type}) => type === wanted)?.value ?? ''
  return `${get('month')} ${get('day')}, ${get('year')} ${get('hour')}:${get('minute')} UTC`
}
