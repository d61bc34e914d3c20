const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** With more digits of a second than any clock has. */
const MOST_CHARACTERS = 64

/** Reads RFC 3339 as Go does: with seconds and a time zone, and only days that exist. */
export function parseTimestamp(text: string): Date | undefined {
  if (text.length > MOST_CHARACTERS) return undefined
  const [, year, month, day, hour] = RFC3339.exec(text) ?? []
  if (year === undefined || hour === '24') return undefined
  // Date turns February 30th into March; Go refuses it.
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const time = new Date(text)
  if (Number.isNaN(date.getTime()) || Number.isNaN(time.getTime())) return undefined
  return date.getUTCDate() === Number(day) ? time : undefined
}

/** In UTC with microseconds, as Kubernetes writes the times of a Lease. */
export const formatMicroTime = (time: Date): string => time.toISOString().replace('Z', '000Z')
