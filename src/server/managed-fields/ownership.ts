import type {ManagedFieldsEntry, ApiObject} from '../../api/meta.ts'
import {deepEqual} from '../kernel/json-value.ts'
import type {StructShape} from '../patch/shape.ts'
import type {Difference} from './compare.ts'
import {EMPTY_SET, fieldSetOf, type FieldSet, recursiveDifference} from './field-set.ts'

/** The context of a write that changes managed fields. */
export interface WriteContext {
  shape: StructShape
  /** The field manager's name; `unknown` if it is empty. */
  manager: string
  /** The version that the request uses, such as `rbac.authorization.k8s.io/v1`. */
  apiVersion: string
  /** Empty or absent for the resource itself. */
  subresource?: string
  now: Date
  /** Fields that this endpoint does not write, whatever is sent: `fieldSetOf([['status']])` for a main endpoint. */
  resetFields?: FieldSet
}

/** Nobody owns what the server itself writes about an object. */
export const NEVER_OWNED = fieldSetOf([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'selfLink'],
  ['metadata', 'uid'],
  ['metadata', 'clusterName'],
  ['metadata', 'generation'],
  ['metadata', 'managedFields'],
  ['metadata', 'resourceVersion'],
])

const SAME: Difference = {changed: EMPTY_SET, removed: EMPTY_SET}

/** The part of a difference that this endpoint writes. */
export function writtenBy(
  found: Difference | undefined,
  resetFields: FieldSet = EMPTY_SET,
): Difference {
  if (found === undefined) return SAME
  return {
    changed: recursiveDifference(found.changed, resetFields),
    removed: recursiveDifference(found.removed, resetFields),
  }
}

/** The object as field managers see it, without managedFields. */
export function withoutManagedFields(object: ApiObject): ApiObject {
  if (object.metadata.managedFields === undefined) return object
  const {managedFields: _, ...metadata} = object.metadata
  return {...object, metadata}
}

const withoutTime = ({time: _, ...entry}: ManagedFieldsEntry) => entry

/** Whether two lists of entries are equal except for their times. */
export const sameOwners = (
  left: readonly ManagedFieldsEntry[] = [],
  right: readonly ManagedFieldsEntry[] = [],
): boolean =>
  left === right ||
  (left.length === right.length && deepEqual(left.map(withoutTime), right.map(withoutTime)))

/**
 * Called right before an update is stored. If nothing differs but the times of managed fields, the live times are kept, so
 * that a write without changes is no write. As IgnoreManagedFieldsTimestampsTransformer.
 */
export function managedFieldsToStore(
  live: ApiObject,
  updated: ApiObject,
): ManagedFieldsEntry[] | undefined {
  const [before, after] = [live.metadata.managedFields, updated.metadata.managedFields]
  const unchanged =
    before !== undefined &&
    before !== after &&
    sameOwners(before, after) &&
    deepEqual(withoutManagedFields(live), withoutManagedFields(updated))
  return unchanged ? before : after
}
