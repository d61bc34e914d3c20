import {formatTimestamp} from '../../runtime.ts'
import type {ApiObject, ManagedFieldsEntry} from '../../api/meta.ts'
import {deepEqual} from '../kernel/json-value.ts'
import {compare} from './compare.ts'
import {difference, isEmptySet, union} from './field-set.ts'
import {NonConforming} from './list-items.ts'
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  managerId,
  type Managers,
  setFields,
} from './managers.ts'
import {NEVER_OWNED, withoutManagedFields, type WriteContext, writtenBy} from './ownership.ts'

export interface UpdateToTrack extends WriteContext {
  /** Absent for a create. */
  live?: ApiObject | undefined
  /** Decoded and defaulted, before strategies and admission change it: nobody owns what those set. */
  updated: ApiObject
}

const NEW_OBJECT: ApiObject = Object.freeze({metadata: {}})

const isUnset = (value: unknown) => value === undefined || value === null || value === ''

/** A client drops all ownership with an empty list, or a list of one empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (entries === undefined || entries === null || entries.length > 1) return false
  return entries.every((entry) => Object.values(entry).every(isUnset))
}

/** Malformed entries count as none. */
function decodeOrEmpty(
  entries: readonly ManagedFieldsEntry[] | undefined,
  stored: boolean,
): Managers {
  try {
    return decodeManagers(entries ?? [], {stored})
  } catch {
    return new Map()
  }
}

/**
 * A client may write managedFields itself, but not through a subresource. If it sends none, or malformed ones, the live ones
 * stay: the client may not know about them.
 */
function managersBefore(live: ApiObject, updated: ApiObject, subresource: string): Managers {
  const stored = live.metadata.managedFields
  const sent = updated.metadata.managedFields
  if (subresource === '' && isReset(sent)) return new Map()
  const own = subresource === '' && sent !== undefined && !deepEqual(sent, stored)
  const managers = own ? decodeOrEmpty(sent, false) : undefined
  return managers !== undefined && managers.size > 0 ? managers : decodeOrEmpty(stored, true)
}

/** Fields that an update changed move from their former owners to its manager. Changes `managers`. */
export function recordUpdate(managers: Managers, update: UpdateToTrack): void {
  const {shape, live = NEW_OBJECT, updated, apiVersion, subresource = '', now} = update
  const found = compare(shape, withoutManagedFields(live), withoutManagedFields(updated))
  const {changed, removed} = writtenBy(found, update.resetFields)
  const manager = update.manager === '' ? 'unknown' : update.manager
  const identity = {manager, operation: 'Update', apiVersion, subresource} as const
  const ownId = managerId(identity)
  const owned = difference(changed, NEVER_OWNED)
  for (const [id, owner] of managers) {
    const kept = difference(owner.fields, removed)
    setFields(managers, id, owner, id === ownId ? kept : difference(kept, changed))
  }
  if (!isEmptySet(owned)) {
    const own = managers.get(ownId)
    const fields = union(own?.fields ?? owned, owned)
    managers.set(ownId, {...own, ...identity, time: formatTimestamp(now), fields})
  }
  capUpdaters(managers)
}

/**
 * The managedFields of an object that was created, updated or patched, as in Kubernetes' FieldManager.Update; undefined if
 * there are none. An object without owners is not tracked until the first apply.
 */
export function trackUpdate(update: UpdateToTrack): ManagedFieldsEntry[] | undefined {
  const {live = NEW_OBJECT, updated, subresource = ''} = update
  const managers = managersBefore(live, updated, subresource)
  if (managers.size === 0 && live.metadata.uid !== undefined) return undefined
  try {
    recordUpdate(managers, update)
  } catch (error) {
    if (!(error instanceof NonConforming)) throw error
    // Validation is about to refuse the object; until then its owners stay the same.
    return live.metadata.managedFields
  }
  return encodeManagers(managers)
}
