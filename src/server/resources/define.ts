import type {ApiObject} from '../../api/meta.ts'
import {packageOfType} from '../../api/schema/index.ts'
import {deepCopy} from '../kernel/json-value.ts'
import {
  ALL_VERBS,
  type Column,
  type Resource,
  type Strategy,
  type Subresource,
} from '../kernel/resource.ts'
import {ageOf} from '../table/human-duration.ts'

type Row<T extends ApiObject> = Partial<Resource<T>> &
  Pick<Resource<T>, 'type' | 'plural' | 'namespaced' | 'strategy'>

/**
 * A row of the table, written with its own type and stored as the common one. Its type in the schema table says its group,
 * version and kind; it has all verbs unless it names some.
 */
export function defineResource<T extends ApiObject>(row: Row<T>): Resource {
  const {group, version} = packageOfType(row.type)
  const kind = row.type.slice(row.type.lastIndexOf('.') + 1)
  const singular = kind.toLowerCase()
  return {group, version, kind, singular, verbs: ALL_VERBS, ...row} as unknown as Resource
}

interface WithStatus extends ApiObject {
  spec?: unknown
  status?: unknown
}

/** Restores a field of the stored object, whatever the caller sent. */
export function restore<T extends object>(object: T, old: T, field: keyof T): void {
  const stored = old[field]
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a missing field stays missing
  if (stored === undefined) delete object[field]
  else object[field] = deepCopy(stored)
}

export const keepStatus = <T extends WithStatus>(object: T, old: T) => {
  restore(object, old, 'status')
}

/** Everything but status and metadata comes from the stored object. */
function keepAllButStatus<T extends ApiObject>(object: T, old: T): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!['metadata', 'status', 'kind', 'apiVersion'].includes(field)) restore(object, old, field)
  }
}

/** `/status` of most kinds: only the status and parts of metadata change. */
export const statusSubresource = <T extends WithStatus>(
  strategy: Strategy<T> = {},
): Subresource<T> => ({
  verbs: ['get', 'patch', 'update'],
  strategy: {prepareForUpdate: keepAllButStatus, ...strategy},
})

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
