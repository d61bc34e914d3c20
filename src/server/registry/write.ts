import type {ApiObject} from '../../api/meta.ts'
import type {TypeSchema} from '../../api/schema/types.ts'
import type {AdmissionChain} from '../admission/index.ts'
import type {OperationContext, Resource} from '../resource.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import {jsonAt, type StoredObject} from './stored-object.ts'

/** What every write needs of the server. */
export interface WriteServices {
  registry: Registry
  admission: AdmissionChain
}

/** One write request: who, where, by which version and name of a field manager. */
export interface WriteTarget {
  store: ResourceStore
  context: OperationContext
  /** The type of the served version that the request speaks. */
  type: TypeSchema
  /** The served apiVersion, as managedFields name it. */
  apiVersion: string
  manager: string
}

/** What a write answers: the object's text without kind and apiVersion, and the code. */
export interface WriteResult {
  json: string
  created: boolean
}

const encoder = new TextEncoder()

export const bytesOf = (text: string) => encoder.encode(text)

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
  const changed = old === undefined || bodyOf(object) !== bodyOf(old)
  object.metadata.generation = changed ? before + 1 : before
}

function bodyOf(object: ApiObject): string {
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    metadata: _metadata,
    status: _status,
    ...body
  } = object
  return JSON.stringify(body)
}

/** The fields that an endpoint does not write, so that nobody comes to own them through it. */
export function resetFields(resource: Resource, subresource: string): string[] {
  if (subresource !== '') return ['spec']
  return resource.subresources?.['status'] === undefined ? [] : ['status']
}

/** RFC 3339 with whole seconds, as Kubernetes writes times. */
export const timestamp = (date: Date) => `${date.toISOString().slice(0, 19)}Z`
