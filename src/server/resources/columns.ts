import type {ApiObject} from '../../api/meta.ts'
import type {Column} from '../kernel/resource.ts'
import {ageOf} from '../table/human-duration.ts'

export {humanDuration} from '../table/human-duration.ts'

export const NAME: Column = {
  name: 'Name',
  format: 'name',
  description: 'Unique within the namespace, or within the cluster.',
  value: ({metadata}) => metadata.name ?? '',
}

export const AGE: Column = {
  name: 'Age',
  description: 'The time since the object was created.',
  value: ({metadata}, now) => ageOf(metadata.creationTimestamp, now),
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
