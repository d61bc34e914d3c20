/** The parts every Kubernetes object shares, as they stand on the wire. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: FieldsV1
  subresource?: string
}

/** A set of field paths: `f:name`, `k:{"key":"value"}`, `v:value` or `.` to a nested set. */
export interface FieldsV1 {
  [path: string]: FieldsV1
}

export interface ApiObject {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
  [field: string]: unknown
}

export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

export interface ApiList<T = ApiObject> {
  kind: string
  apiVersion: string
  metadata: ListMeta
  items: T[]
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: ListMeta
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

export interface WatchEvent<T = ApiObject> {
  type: WatchEventType
  object: T
}

export interface UserInfo {
  username: string
  uid?: string
  groups: string[]
  extra?: Record<string, string[]>
}
