import {formatTimestamp} from '../../runtime.ts'
import type {ApiObject, ManagedFieldsEntry, ObjectMeta} from '../../api/meta.ts'
import {isObject, type JsonObject} from '../kernel/json-value.ts'
import {badRequest, StatusError} from '../kernel/status.ts'
import type {StructShape} from '../patch/shape.ts'
import {compare} from './compare.ts'
import {configuredFields, fieldsLastApplied, refreshLastApplied} from './configured-fields.ts'
import {applyConflict, conflictsOf, type Conflict} from './conflicts.ts'
import {
  difference,
  EMPTY_SET,
  hasPath,
  intersection,
  isEmptySet,
  recursiveDifference,
  unionOf,
  union,
  type FieldSet,
} from './field-set.ts'
import {NonConforming} from './list-items.ts'
import {decodeManagers, encodeManagers, managerId, setFields, type Managers} from './managers.ts'
import {mergeApplied, removeFields, withStructs} from './merge.ts'
import {
  managedFieldsToStore,
  NEVER_OWNED,
  withoutManagedFields,
  writtenBy,
  type WriteContext,
} from './ownership.ts'
import {recordUpdate} from './track-update.ts'
import {validateConfiguration} from './validate.ts'

export interface ApplyRequest extends WriteContext {
  kind: string
  /** Absent if the object is to be created. */
  live?: ApiObject | undefined
  /** The configuration as it was sent: parsed, not decoded, not defaulted. */
  applied: JsonObject
  /** Takes fields from their owners instead of failing. */
  force: boolean
}

export interface AppliedObject {
  /** To be decoded, defaulted and validated like any update; its managedFields are set. */
  object: ApiObject
  managedFields: ManagedFieldsEntry[] | undefined
}

const KUBECTL = 'kubectl'
const BEFORE_FIRST_APPLY = 'before-first-apply'

function kindText(apiVersion: unknown, kind: unknown): string {
  const version = typeof apiVersion === 'string' ? apiVersion : ''
  const name = typeof kind === 'string' ? kind : ''
  return `${version.includes('/') ? version : `/${version}`}, Kind=${name}`
}

function metadataOf(applied: JsonObject): JsonObject {
  return isObject(applied.metadata) ? applied.metadata : {}
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

const subjectOf = ({namespace, name}: JsonObject | ObjectMeta, apiVersion: string, kind: string) =>
  `${textOf(namespace)}/${textOf(name)}; ${kindText(apiVersion, kind)}`

function requireConfiguration({applied, apiVersion, kind, shape}: ApplyRequest): void {
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) {
    throw badRequest(`invalid object type: ${kindText(applied.apiVersion, applied.kind)}`)
  }
  const metadata = metadataOf(applied)
  const {managedFields} = metadata
  if (managedFields !== undefined && managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const error = validateConfiguration(shape, applied)
  if (error === undefined) return
  // Kubernetes returns 500 here, without a reason.
  throw new StatusError(
    500,
    undefined,
    `failed to create typed patch object (${subjectOf(metadata, apiVersion, kind)}): ${error}`,
  )
}

/**
 * What is stored may have items without the key that tells them apart: a ServiceAccount's secrets need no name. Nobody can say which
 * of them an applier means, so it has to be corrected first. Kubernetes returns 500, which looks like a fault of the server.
 */
function liveIsNotTyped(
  {shape, live, apiVersion, kind}: ApplyRequest,
  {message}: NonConforming,
): StatusError {
  const error = (live && validateConfiguration(shape, live)) ?? message
  const subject = subjectOf(live?.metadata ?? {}, apiVersion, kind)
  return new StatusError(
    422,
    'Invalid',
    `failed to create typed live object (${subject}): ${error}; correct it with an update, then apply again`,
  )
}

function managersBefore(request: ApplyRequest): Managers {
  const {live} = request
  const managers = decodeManagers(live?.metadata.managedFields ?? [], {stored: true})
  if (managers.size === 0 && live !== undefined) {
    recordUpdate(managers, {
      ...request,
      live: undefined,
      updated: live,
      manager: BEFORE_FIRST_APPLY,
    })
  }
  return managers
}

interface Attempt {
  object: ApiObject
  managers: Managers
  conflicts: Conflict[]
}

/** The result of a forced apply, and the conflicts that it would override. */
function attempt(request: ApplyRequest, before: Managers): Attempt {
  const {shape, applied, apiVersion, manager, subresource = '', resetFields = EMPTY_SET} = request
  const live = request.live === undefined ? {metadata: {}} : withoutManagedFields(request.live)
  const identity = {manager, operation: 'Apply', apiVersion, subresource} as const
  const id = managerId(identity)
  const configured = recursiveDifference(configuredFields(shape, applied), resetFields)
  const managers: Managers = new Map(before)
  managers.set(id, {...identity, time: formatTimestamp(request.now), fields: configured})

  const owned = unionOf(Array.from(managers.values(), ({fields}) => fields))
  const merged = mergeApplied(shape, live, applied)
  const last = before.get(id)?.fields ?? EMPTY_SET
  const pruned = prune(shape, merged, last, owned) as Partial<ApiObject>
  const object: ApiObject = {...pruned, metadata: pruned.metadata ?? {}}

  const {changed, removed} = writtenBy(compare(shape, live, object), resetFields)
  const disputed = []
  for (const [otherId, owner] of managers) {
    if (otherId === id) {
      setFields(managers, id, owner, difference(configured, NEVER_OWNED))
      continue
    }
    const fields = intersection(owner.fields, changed)
    if (!isEmptySet(fields)) disputed.push({owner, fields})
    setFields(managers, otherId, owner, difference(difference(owner.fields, changed), removed))
  }
  return {object, managers, conflicts: conflictsOf(disputed)}
}

/** kubectl does not conflict with its own earlier client-side apply. */
function standingConflicts({live, manager, shape, apiVersion}: ApplyRequest, all: Conflict[]) {
  if (manager !== KUBECTL || live === undefined || all.length === 0) return all
  const allowed = fieldsLastApplied(shape, live, apiVersion)
  return all.filter(({path}) => !hasPath(allowed, path))
}

/**
 * Server-side apply. The configuration's fields win. Fields that the manager applied before and no longer applies are
 * removed, unless somebody else owns them. Fields of other managers that would change are conflicts (409), unless forced;
 * equal values are owned together. Inputs stay as they are.
 */
export function apply(request: ApplyRequest): AppliedObject {
  requireConfiguration(request)
  try {
    return applyConfiguration(request)
  } catch (error) {
    throw error instanceof NonConforming ? liveIsNotTyped(request, error) : error
  }
}

function applyConfiguration(request: ApplyRequest): AppliedObject {
  const {object, managers, conflicts} = attempt(request, managersBefore(request))
  const standing = request.force ? [] : standingConflicts(request, conflicts)
  if (standing.length > 0) throw applyConflict(standing)
  if (request.manager === KUBECTL) refreshLastApplied(object, request.applied)

  const managedFields = encodeManagers(managers)
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  const {live} = request
  const stored = live === undefined ? managedFields : managedFieldsToStore(live, object)
  if (stored !== undefined) object.metadata.managedFields = stored
  return {object, managedFields: stored}
}

/**
 * Removes what an applier applied last time and does not apply now, unless somebody else owns it. A removed struct or item
 * takes its content along, so there are three steps: remove all of the last configuration, restore what has an owner,
 * restore what was never the applier's.
 */
function prune(shape: StructShape, merged: unknown, last: FieldSet, owned: FieldSet): unknown {
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
