/** The parts that every Kubernetes object has, as on the wire. */
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

/** An object before it is validated: any field may be missing or hold any text. */
export type Received<T extends ApiObject> = ApiObject & {
  [K in keyof T as K extends keyof ObjectHead ? never : K]?: Unchecked<T[K]>
}

type ObjectHead = Pick<ApiObject, 'kind' | 'apiVersion' | 'metadata'>

/** The same for a part of an object. */
export type Unchecked<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Unchecked<Item>[]
    : T extends object
      ? UncheckedFields<T>
      : T

/** Fields become optional. A map has no fields: only its values are unchecked. */
type UncheckedFields<T extends object> = string extends keyof T
  ? {[K in keyof T]: Unchecked<T[K]>}
  : {[K in keyof T]?: Unchecked<T[K]>}

/** Amounts of what machines have, such as `{"cpu": "500m"}`. */
export type ResourceList = Record<string, string | number>

export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: {key: string; operator: string; values?: string[]}[]
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

/** An object in memory that is read only when somebody looks at it. Never on the wire. */
export interface HeldObject<T = ApiObject> {
  /** `namespace/name`, or `name` if it has no namespace. */
  readonly key: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  /** Shared, so nobody may change it. */
  readonly object: T
}

/** An event of a watch in the same process. */
export type HeldEvent =
  | {type: 'ADDED' | 'MODIFIED' | 'DELETED'; held: HeldObject}
  | {type: 'BOOKMARK' | 'ERROR'; object: object}

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
