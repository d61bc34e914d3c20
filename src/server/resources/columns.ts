import type {ApiObject} from '../../api/meta.ts'
import type {Column} from '../resource.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY_HOURS = 24
const YEAR_HOURS = 365 * DAY_HOURS

const twoUnits = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

/** A length of time in a few characters, as Kubernetes' HumanDuration. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(milliseconds / MINUTE)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(milliseconds / HOUR)
  const days = Math.trunc(hours / DAY_HOURS)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 8 * DAY_HOURS) return twoUnits(days, 'd', hours % DAY_HOURS, 'h')
  if (hours < 2 * YEAR_HOURS) return `${days}d`
  const years = Math.trunc(hours / YEAR_HOURS)
  return hours < 8 * YEAR_HOURS ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

/** How long ago a timestamp was. */
export const since = (timestamp: string | null | undefined, now: Date) =>
  timestamp ? humanDuration(now.getTime() - Date.parse(timestamp)) : '<unknown>'

export const NAME: Column = {
  name: 'Name',
  format: 'name',
  description: 'Unique within the namespace, or within the cluster.',
  value: ({metadata}) => metadata.name ?? '',
}

export const AGE: Column = {
  name: 'Age',
  description: 'The time since the object was created.',
  value: ({metadata}, now) => since(metadata.creationTimestamp, now),
}

/** What kinds without columns of their own show. */
export const DEFAULT_COLUMNS: Column[] = [
  NAME,
  {
    name: 'Created At',
    type: 'date',
    description: 'When the object was created.',
    value: ({metadata}) => metadata.creationTimestamp ?? null,
  },
]

type Value<T extends ApiObject> = Column<T>['value']

export const column = <T extends ApiObject>(
  name: string,
  description: string,
  value: Value<T>,
): Column<T> => ({name, description, value})

/** Shown by `-o wide` only. */
export const wideColumn = <T extends ApiObject>(
  name: string,
  description: string,
  value: Value<T>,
): Column<T> => ({name, description, value, priority: 1})

export const firstNonEmpty = (...texts: (string | null | undefined)[]) =>
  texts.find((text) => text !== undefined && text !== null && text !== '') ?? ''

export const orNone = (text: string | undefined) =>
  text === undefined || text === '' ? '<none>' : text

export const labelsText = (labels: Record<string, string> | undefined) =>
  orNone(
    Object.entries(labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(','),
  )
