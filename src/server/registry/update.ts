import type {ApiObject, ManagedFieldsEntry} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import {sameOwners} from '../managed-fields/ownership.ts'
import {trackUpdate} from '../managed-fields/track-update.ts'
import {requireAllowed} from '../authz/authorizer.ts'
import type {Resource, Strategy} from '../kernel/resource.ts'
import {conflict, invalid, MODIFIED, notFound, StatusError} from '../kernel/status.ts'
import {invalidValue} from '../kernel/field-error.ts'
import {deepCopy, deepEqual} from '../kernel/json-value.ts'
import {validateFinalizerDomains, validateObjectMetaUpdate} from '../validation/metadata.ts'
import {requireFirst} from './allocation-check.ts'
import {allocationTurn} from './allocation-turn.ts'
import {create} from './create.ts'
import {catchUp} from './freshness.ts'
import {
  countGeneration,
  requireSameName,
  requireSameNamespace,
  resultOf,
  setManagedFields,
  storableBytes,
  trackingOf,
  unchanged,
} from './write.ts'
import type {WriteResult, WriteServices, WriteTarget} from './write.ts'
import {parseNumber} from './options.ts'
import {parse, toStored, type StoredObject} from './stored-object.ts'
import {restoreSystemMetadata} from './system-metadata.ts'

/** How often a write is retried after conflicts before the caller gets an error. */
const CONFLICT_TRIES = 32

/** What the object becomes: computed again from the stored one whenever another writer came first. */
export type NextState = (read: () => ApiObject) => Next | Promise<Next>

interface Next {
  object: ApiObject
  /** Set if the change has tracked its own fields, as server-side apply does. */
  managedFields?: ManagedFieldsEntry[] | undefined
}

/** Replaces an object by what was sent; creates it if its kind allows that. */
export async function replace(
  services: WriteServices,
  target: WriteTarget,
  object: ApiObject,
): Promise<WriteResult> {
  const {store, context} = target
  const {resource} = store
  requireSameName(object, context.name)
  requireSameNamespace(object, context.namespace)
  const given = object.metadata.resourceVersion ?? ''
  const stored = store.get(context.namespace, context.name)
  if (stored === undefined) {
    if (resource.createOnUpdate !== true || context.subresource !== '')
      throw notFound(resource, context.name)
    requireSameUid(target, object, {metadata: {}})
    requireCreate(target)
    return create(services, target, object)
  }
  if ((given === '' || given === '0') && resource.conditionalUpdateOnly === true) {
    const field = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')
    // The real server names the resource here, not the kind.
    throw invalid({group: resource.group, kind: resource.plural}, context.name, [field])
  }
  resource.strategy.defaults?.(object)
  return update(services, target, () => ({object: deepCopy(object)}))
}

/** Changes an object from its stored state to the next, even if others write it in the meantime. */
export async function update(
  services: WriteServices,
  target: WriteTarget,
  next: NextState,
): Promise<WriteResult> {
  const {store, context} = target
  const endAllocation = await allocationTurn(services, target)
  let endTurn: () => void = () => undefined
  try {
    for (let tries = 1; ; tries++) {
      const saved = await attempt(services, target, next, tries)
      if (saved !== 'overtaken') return saved
      if (tries === 1)
        endTurn = await store.turns.take(store.keyOf(context.namespace, context.name))
      await catchUp(services.registry)
    }
  } finally {
    endTurn()
    endAllocation()
  }
}

async function attempt(
  services: WriteServices,
  target: WriteTarget,
  next: NextState,
  tries: number,
): Promise<WriteResult | 'overtaken'> {
  const {store, context} = target
  const stored = store.get(context.namespace, context.name)
  if (stored === undefined) throw notFound(store.resource, context.name)
  const change = await prepare(services, target, stored, next)
  try {
    return await save(services, target, stored, change)
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) throw notFound(store.resource, context.name)
    if (!hasCode(error, 'CONFLICT')) throw error
    if (tries >= CONFLICT_TRIES) throw conflict(store.resource, context.name, MODIFIED)
    // A change for a specific revision fails at its next attempt.
    return 'overtaken'
  }
}

async function prepare(
  {admit, validate}: WriteServices,
  target: WriteTarget,
  stored: StoredObject,
  next: NextState,
): Promise<{object: ApiObject; old: ApiObject}> {
  const {store, context} = target
  const {resource} = store
  const {subresource} = context
  const old = parse(stored)
  const made = await next(() => parse(stored))
  const {object} = made
  const given = object.metadata.resourceVersion ?? ''
  const wanted = parseNumber(given, (problem) => new StatusError(500, undefined, problem))
  if (wanted !== 0 && given !== String(stored.revision))
    throw conflict(resource, context.name, MODIFIED)
  requireSameUid(target, object, old)
  restoreSystemMetadata(object, old)

  // An apply that gives up all fields leaves no owners, and none are to be derived.
  const managedFields =
    'managedFields' in made
      ? made.managedFields
      : trackUpdate({...trackingOf(target), live: old, updated: object})
  setManagedFields(object, managedFields)
  const operation = {
    verb: 'update',
    resource,
    subresource,
    name: context.name,
    object,
    old,
  } as const
  await admit(operation, context)
  const strategy = strategyOf(target)
  strategy.prepareForUpdate?.(object, old, context)
  if (!isAction(target)) countGeneration(resource, object, old)
  const errors = [
    ...validateObjectMetaUpdate(object, old),
    ...(resource.custom === true ? [] : validateFinalizerDomains(object)),
    ...(strategy.validate?.(object, context) ?? []),
    ...(strategy.validateUpdate?.(object, old, context) ?? []),
  ]
  if (errors.length > 0) throw invalid(resource, context.name, errors)
  await validate(operation, context)
  return {object, old}
}

async function save(
  services: WriteServices,
  target: WriteTarget,
  stored: StoredObject,
  {object, old}: {object: ApiObject; old: ApiObject},
): Promise<WriteResult> {
  const {registry, quota} = services
  const {store, context} = target
  await target.requireStillAllowed()
  if (isSame(object, old)) return unchanged(stored)
  const text = toStored(object)
  const bytes = storableBytes(store.resource, text, stored.json)
  if (context.dryRun) return resultOf(text, stored.revision)
  const key = store.storageKey(context.namespace, context.name)
  if (isFinished(store.resource, object)) {
    const {revision} = await registry.storage.delete(key, stored.revision)
    target.hasWritten()
    return resultOf(text, revision)
  }
  quota?.require(target, bytes.length - stored.json.length)
  const {revision} = await registry.storage.update(key, bytes, stored.revision)
  target.hasWritten()
  await requireFirst(services, target, {object, key, revision}, stored)
  return resultOf(text, revision)
}

/** It is being deleted, and nothing holds it any more. */
const isFinished = (resource: Resource, object: ApiObject) =>
  object.metadata.deletionTimestamp !== undefined &&
  (object.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  (object.metadata.finalizers ?? []).length === 0 &&
  resource.holdsDeletion?.(object) !== true

/** A write that changes only the times in managedFields is not stored. */
function isSame(object: ApiObject, old: ApiObject): boolean {
  const {managedFields: now, ...metadata} = object.metadata
  const {managedFields: before, resourceVersion: _version, ...oldMetadata} = old.metadata
  delete metadata.resourceVersion
  return (
    deepEqual({...content(object), metadata}, {...content(old), metadata: oldMetadata}) &&
    sameOwners(now, before)
  )
}

const content = ({kind: _kind, apiVersion: _apiVersion, ...rest}: ApiObject) => rest

/** A subresource's rules replace the resource's own, if it has any. */
function strategyOf({store: {resource}, context}: WriteTarget): Strategy {
  const subresource = resource.subresources?.[context.subresource]
  if (subresource === undefined) return resource.strategy
  // An action on the object has no other rules.
  return subresource.strategy ?? (subresource.create === undefined ? resource.strategy : {})
}

/** Such as binding a pod to a node, which does not change what its owner wants. */
const isAction = ({store: {resource}, context}: WriteTarget) =>
  resource.subresources?.[context.subresource]?.create !== undefined

function requireSameUid(
  {store: {resource}, context}: WriteTarget,
  object: ApiObject,
  old: ApiObject,
) {
  const {uid = ''} = object.metadata
  if (uid !== '' && uid !== old.metadata.uid) {
    const where = [resource.plural, context.namespace, context.name].filter(Boolean).join('/')
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`
    throw conflict(
      resource,
      context.name,
      `StorageError: invalid object, Code: 4, Key: /registry/${where}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    )
  }
}

/** Creating through an update or an apply needs the permission to create. */
export function requireCreate({store: {resource}, context}: WriteTarget): void {
  const {user, namespace, name, version, authorize} = context
  const {group, plural} = resource
  const target = {group, version, resource: plural, subresource: '', namespace, name}
  requireAllowed(authorize, user, {verb: 'create', resource: target})
}
