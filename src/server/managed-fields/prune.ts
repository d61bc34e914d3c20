import type {StructShape} from '../patch/shape.ts'
import {configuredFields} from './configured-fields.ts'
import {difference, type FieldSet, intersection, isEmptySet, union} from './field-set.ts'
import {removeFields, withStructs} from './remove.ts'

/**
 * Removes what an applier applied last time and does not apply now, unless anybody else owns it. Three steps, since a struct or
 * item that goes takes along what stands in it: take away all of the last configuration, put back what has an owner, put back
 * what was never the applier's.
 */
export function prune(
  shape: StructShape,
  merged: unknown,
  last: FieldSet,
  owned: FieldSet,
): unknown {
  if (isEmptySet(last)) return merged
  const fieldsOf = (value: unknown) => withStructs(shape, configuredFields(shape, value))
  const lastFields = withStructs(shape, last)
  const all = fieldsOf(merged)

  const bare = removeFields(shape, merged, lastFields)
  const keptOrOwned = union(fieldsOf(bare), withStructs(shape, owned))
  const ownerless = removeFields(shape, merged, difference(all, keptOrOwned))
  const gone = difference(all, fieldsOf(ownerless))
  return removeFields(shape, merged, intersection(gone, lastFields))
}
