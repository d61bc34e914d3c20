import {TrustError} from '../../errors.ts'

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const WHOLE = /^(\d+(\.\d+)?(ms|s|m|h))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g

/** Go's way of writing a time span, as kubeadm takes it: `8760h`, `1h30m`. Answers milliseconds. */
export function parseDuration(text: string, what: string): number {
  if (!WHOLE.test(text)) {
    throw new TrustError('USAGE', `${what} is "${text}", which is no time span`, {
      hints: ['write it as in "8760h", "90m" or "1h30m"'],
    })
  }
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(PART)) {
    total += Number(amount) * (UNITS[unit] ?? 0)
  }
  return total
}

/** The way back: `8760h0m0s`, as Go prints it. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}
