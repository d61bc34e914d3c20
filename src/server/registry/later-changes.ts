import type {ApiObject, ManagedFieldsEntry, ObjectMeta} from '../../api/meta.ts'
import {deepEqual, getOwn, isObject, setOwn, type JsonObject} from '../kernel/json-value.ts'
import {parse, toStored} from './stored-object.ts'
import {bodyOf, type WriteServices, type WriteTarget} from './write.ts'

interface Current {
  object: ApiObject
  revision: number
}

/**
 * An object that somebody else has changed since it was `written`, if they changed only metadata and status. Undefined if it is gone, or
 * theirs by now: what else they changed was checked together with what was written.
 */
export async function readAgain(
  {registry}: WriteServices,
  {store}: WriteTarget,
  key: string,
  written: ApiObject,
): Promise<Current | undefined> {
  const entry = await registry.storage.get(key)
  const stored = entry && store.decode(entry)
  if (stored === undefined) return undefined
  const object = parse(stored)
  const isSame =
    object.metadata.uid === written.metadata.uid && deepEqual(bodyOf(object), bodyOf(written))
  return isSame ? {object, revision: stored.revision} : undefined
}

/** Makes the change from one state to another one in an object that somebody else has changed meanwhile, whose own changes stay. */
export function changeSame(current: ApiObject, from: ApiObject, to: ApiObject): ApiObject {
  const keyed = (object: ApiObject) => {
    const {metadata, ...rest} = JSON.parse(toStored(object)) as ApiObject
    return {...rest, metadata: {...metadata, managedFields: byOwner(metadata)}}
  }
  const merged = merge(keyed(current), keyed(from), keyed(to)) as ReturnType<typeof keyed>
  const managedFields = Object.values(merged.metadata.managedFields)
  const {managedFields: _keyed, ...metadata} = merged.metadata
  return {...merged, metadata: managedFields.length > 0 ? {...metadata, managedFields} : metadata}
}

const byOwner = ({managedFields = []}: ObjectMeta): Record<string, ManagedFieldsEntry> =>
  Object.fromEntries(
    managedFields.map((entry) => {
      const {manager, operation, apiVersion, subresource} = entry
      return [JSON.stringify([manager, operation, apiVersion, subresource]), entry]
    }),
  )

function merge(current: unknown, from: unknown, to: unknown): unknown {
  if (deepEqual(from, to)) return current
  if (deepEqual(current, from)) return to
  if (!isObject(current) || !isObject(from) || !isObject(to)) return current
  const merged: JsonObject = {}
  for (const key of new Set([...Object.keys(current), ...Object.keys(to)])) {
    const value = merge(getOwn(current, key), getOwn(from, key), getOwn(to, key))
    if (value !== undefined) setOwn(merged, key, value)
  }
  return merged
}
