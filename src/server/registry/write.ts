import type {ApiObject, ManagedFieldsEntry} from '../../api/meta.ts'
import type {Admission} from '../kernel/admission.ts'
import {deepEqual} from '../kernel/json-value.ts'
import type {OperationContext, Resource} from '../kernel/resource.ts'
import {badRequest, tooLarge} from '../kernel/status.ts'
import {EMPTY_SET, type FieldSet, fieldSetOf} from '../managed-fields/field-set.ts'
import {shapeOf, type StructShape} from '../patch/shape.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import type {StoreQuota} from './store-quota.ts'
import {jsonAt, type StoredObject} from './stored-object.ts'

/** What every write needs from the server. */
export interface WriteServices extends Admission {
  registry: Registry
  /** Absent: only the size of each object is limited. */
  quota?: Pick<StoreQuota, 'require'>
}

/** One write request: user, location, version and field manager. */
export interface WriteTarget {
  store: ResourceStore
  context: OperationContext
  /** The shape of the served version that the request uses. */
  shape: StructShape
  /** The served apiVersion, as managedFields name it. */
  apiVersion: string
  manager: string
  /** Called right before the write; throws if the caller may no longer do it. */
  requireStillAllowed: () => Promise<void> | void
  /** Called once something is stored. */
  hasWritten: () => void
}

/** What a write returns: the object's text without kind and apiVersion, and the status code. */
export interface WriteResult {
  json: string
  created: boolean
}

export const resultOf = (text: string, revision: number, created = false): WriteResult => ({
  json: jsonAt(text, revision),
  created,
})

export const unchanged = (stored: StoredObject): WriteResult => ({
  json: stored.json,
  created: false,
})

/** metadata.generation counts the changes of everything but metadata and status. */
export function countGeneration(resource: Resource, object: ApiObject, old?: ApiObject): void {
  if (resource.generation !== true) {
    if (old === undefined) delete object.metadata.generation
    return
  }
  const before = old?.metadata.generation ?? 0
  const changed = old === undefined || !deepEqual(bodyOf(object), bodyOf(old))
  object.metadata.generation = changed ? before + 1 : before
}

/** An object without its metadata and status. */
export function bodyOf(object: ApiObject): object {
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    metadata: _metadata,
    status: _status,
    ...body
  } = object
  return body
}

const STATUS = fieldSetOf([['status']])
const SPEC = fieldSetOf([['spec']])
const SPEC_AND_STATUS = fieldSetOf([['spec'], ['status']])

/** The fields that an endpoint does not write, so nobody can own them through it. */
function resetFields(resource: Resource, subresource: string): FieldSet {
  if (subresource !== '') return SPEC
  if (resource.specIsNeverOwned === true) return SPEC_AND_STATUS
  return resource.subresources?.status === undefined ? EMPTY_SET : STATUS
}

/** What tracking of field owners needs to know about a write. */
export const trackingOf = ({store: {resource}, context, ...target}: WriteTarget) => ({
  shape: target.shape,
  manager: target.manager,
  apiVersion: target.apiVersion,
  subresource: context.subresource,
  now: context.clock.now(),
  resetFields: resetFields(resource, context.subresource),
})

export const setManagedFields = (
  {metadata}: ApiObject,
  entries: ManagedFieldsEntry[] | undefined,
): void => {
  if (entries === undefined || entries.length === 0) delete metadata.managedFields
  else metadata.managedFields = entries
}

export const shapeOfVersion = (resource: Resource, type: string) =>
  shapeOf(type, {custom: resource.custom === true})

/** The object's name must be that of the request's path. As Kubernetes' checkName. */
export function requireSameName(object: ApiObject, name: string): void {
  const given = object.metadata.name ?? ''
  if (given === '')
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  if (given !== name)
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    )
}

/**
 * The object's namespace must be that of the request's path. A missing one is filled in; if the path has none, it is
 * removed. As Kubernetes' EnsureObjectNamespaceMatchesRequestNamespace.
 */
export function requireSameNamespace(object: ApiObject, namespace: string): void {
  const given = object.metadata.namespace ?? ''
  if (namespace === '') delete object.metadata.namespace
  else if (given === '') object.metadata.namespace = namespace
  else if (given !== namespace)
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
}

/** As etcd limits a request, and so every object of a real cluster. */
const MOST_OBJECT_BYTES = 1.5 * 1024 * 1024

const encoder = new TextEncoder()

/**
 * The bytes of an object that is about to be stored, if it is small enough. A larger object of an older version may be
 * changed as long as it does not grow, so that it can be made smaller.
 */
export function storableBytes(
  {mostBytes = MOST_OBJECT_BYTES, plural}: Resource,
  text: string,
  before = '',
): Uint8Array {
  const bytes = encoder.encode(text)
  if (bytes.length <= mostBytes || bytes.length <= before.length) return bytes
  throw tooLarge(
    `Request entity too large: the object takes ${bytes.length} bytes, and one of ${plural} at most ${mostBytes}`,
  )
}
