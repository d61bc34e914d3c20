import {MalformedError} from './decode-error.ts'

const RFC3339 = '2006-01-02T15:04:05Z07:00'
const RFC3339_MICRO = '2006-01-02T15:04:05.000000Z07:00'

const SECONDS_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/
const MICRO_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/
const PLAIN_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** With more fractional digits than any clock has. */
const MOST_CHARACTERS = 128

/** The pieces of the layout in their order, with what each accepts. */
const PIECES: [name: string, accepts: RegExp][] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
]
const ZONE: [string, RegExp] = ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/]
const LIMITS = {month: [1, 12], hour: [0, 23], minute: [0, 59], second: [0, 59]} as const

/** As metav1.Time writes what it read: UTC, whole seconds. */
export function normalizeTime(text: string): string {
  requireShort(text)
  if (!SECONDS_FORM.test(text)) fail(text, RFC3339, ['', /^(?:[.,]\d+)?/])
  checkRanges(text)
  if (PLAIN_UTC.test(text)) return text
  const withoutFraction = text.replace(/[.,]\d+/, '')
  return `${new Date(withoutFraction).toISOString().slice(0, 19)}Z`
}

/** As metav1.MicroTime writes what it read: UTC, six digits of a second, no more and no less. */
export function normalizeMicroTime(text: string): string {
  requireShort(text)
  if (!MICRO_FORM.test(text)) fail(text, RFC3339_MICRO, ['.000000', /^\.\d{6}(?!\d)/])
  checkRanges(text)
  const micros = text.slice(20, 26)
  const utc = new Date(text.slice(0, 19) + text.slice(26)).toISOString()
  return `${utc.slice(0, 19)}.${micros}Z`
}

function requireShort(text: string): void {
  if (text.length <= MOST_CHARACTERS) return
  throw new MalformedError(`parsing time: longer than ${MOST_CHARACTERS} characters`)
}

function checkRanges(text: string): void {
  const [year, month, day, hour, minute, second] = (text.match(/\d+/g) ?? []).map(Number)
  const values = {month, hour, minute, second}
  for (const name of ['month', 'hour', 'minute', 'second'] as const) {
    const [least, most] = LIMITS[name]
    const value = values[name] ?? least
    if (value < least || value > most) outOfRange(text, name)
  }
  const lastDay = new Date(Date.UTC(year ?? 0, month ?? 1, 0)).getUTCDate()
  if (day === undefined || day < 1 || day > lastDay) outOfRange(text, 'day')
  const [, offsetHour, offsetMinute] = /[+-](\d\d):(\d\d)$/.exec(text) ?? []
  if (Number(offsetHour ?? 0) > 23) outOfRange(text, 'time zone offset hour')
  if (Number(offsetMinute ?? 0) > 59) outOfRange(text, 'time zone offset minute')
}

function outOfRange(text: string, what: string): never {
  throw new MalformedError(`parsing time ${JSON.stringify(text)}: ${what} out of range`)
}

/** Finds the first piece that does not match, and reports it in the words of Go's time.Parse. */
function fail(text: string, layout: string, fraction: [string, RegExp]): never {
  let rest = text
  for (const [name, accepts] of [...PIECES, fraction, ZONE]) {
    const matched = accepts.exec(rest)?.[0]
    if (matched === undefined) {
      throw new MalformedError(
        `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`,
      )
    }
    rest = rest.slice(matched.length)
  }
  throw new MalformedError(
    `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`,
  )
}
