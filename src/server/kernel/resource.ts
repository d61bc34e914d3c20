import type {ApiObject, UserInfo} from '../../api/meta.ts'
import type {SeenCaller} from '../../csr/user-extra.ts'
import type {Clock} from '../../runtime.ts'
import type {FieldError} from './field-error.ts'

export type Verb =
  'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

export const ALL_VERBS: Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** A column of a server-side table, as `kubectl get` prints it. */
export interface Column<T extends ApiObject = ApiObject> {
  name: string
  /** `string` if absent. */
  type?: 'string' | 'integer' | 'date' | 'boolean'
  format?: string
  /** 1: shown by `-o wide` only. */
  priority?: 0 | 1
  description: string
  value: (object: T, now: Date) => string | number | boolean | null
}

/** What the authorizer is asked about. */
export interface AccessAttributes {
  verb: string
  /** Absent for paths that are not resources. */
  resource?: {
    group: string
    version: string
    /** The plural. */
    resource: string
    subresource: string
    namespace: string
    name: string
    fieldSelector?: string
    labelSelector?: string
  }
  /** The path of a request that is not for a resource. */
  path?: string
}

export interface AccessDecision {
  allowed: boolean
  reason: string
  /** Errors such as missing roles. */
  evaluationError?: string
}

export type Authorize = (user: UserInfo, attributes: AccessAttributes) => AccessDecision

/** Reads of other objects, from memory, without authorization: for validation and admission. */
export interface ObjectReader {
  get(plural: string, group: string, namespace: string, name: string): ApiObject | undefined
  list(plural: string, group: string, namespace?: string): ApiObject[]
}

export interface SharedObjects {
  /** Frozen, for it is shared with others; the same object as long as nothing changed and somebody has it. */
  shared(plural: string, group: string, namespace: string, name: string): ApiObject | undefined
}

/** What strategies, validation and admission know about the request. */
export interface OperationContext {
  user: UserInfo
  /** The user's own connection; absent if the caller impersonates the user. */
  seen?: SeenCaller | undefined
  clock: Clock
  /** Empty for cluster-scoped objects. */
  namespace: string
  /** As in the path; empty for a create. */
  name: string
  /** Empty for the resource itself. */
  subresource: string
  /** The served version that the request uses. */
  version: string
  dryRun: boolean
  authorize: Authorize
  objects: ObjectReader
  /** Shown to the caller as a Warning header. */
  warn(text: string): void
}

/** The rules of one resource (or of one of its subresources) around generic create and update. Objects are changed in place. */
export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * What decoding fills in on create and update, for the resource and its subresources. Field managers own these fields,
   * unlike those that `prepare…` sets.
   */
  defaults?: (object: T) => void
  /** On create, before validation: slow work that runs on other threads, so that `validate…` finds its result. */
  examine?: (object: T) => Promise<void>
  /** Resets what a caller may not set, and adds what the server sets. Called after `defaults`, before validation. */
  prepareForCreate?: (object: T, context: OperationContext) => void
  /** On create and update, before the two below. */
  validate?: (object: T, context: OperationContext) => FieldError[]
  /** Rules that older stored objects may break: updates do not check them. */
  validateCreate?: (object: T, context: OperationContext) => FieldError[]
  /** Restores the fields that this endpoint may not change. */
  prepareForUpdate?: (object: T, old: T, context: OperationContext) => void
  /** `validate` runs too, before this. */
  validateUpdate?: (object: T, old: T, context: OperationContext) => FieldError[]
  /** If the resource allocates: replaces the addresses and ports that other objects have by free ones. */
  reallocate?: (object: T, context: OperationContext) => void
}

export interface Subresource<T extends ApiObject = ApiObject> {
  verbs: Verb[]
  /** The kind of its body, if it is not the resource's own. */
  kind?: {group: string; version: string; kind: string; type: string}
  /** For update and patch: replaces the resource's own, except `defaults`, which always come from the resource. */
  strategy?: Strategy<T>
  /** For create: an action on the object, such as a token request. Returns what is sent back. */
  create?: (body: ApiObject, object: T, context: OperationContext) => Promise<ApiObject> | ApiObject
  /** `create` changes the object in place, and the change is to be stored. */
  stores?: boolean
}

/** Another served version of a kind, converted on input and output; everything is stored in the first version. */
export interface ExtraVersion {
  version: string
  /** The name of its type in the schema table. */
  type: string
  /** Shown as a Warning header to every user of this version. */
  deprecation?: string
  /** Defaults of this version, on what a caller sent. */
  defaults?: (object: ApiObject) => void
}

/**
 * One row of the table of resources: everything that the server knows about a kind. Discovery, OpenAPI and tables come from
 * it.
 */
export interface Resource<T extends ApiObject = ApiObject> {
  group: string
  version: string
  extraVersions?: ExtraVersion[]
  plural: string
  singular: string
  kind: string
  shortNames?: string[]
  categories?: string[]
  namespaced: boolean
  verbs: Verb[]
  /** The name of its type in the schema table, such as `core/v1.ConfigMap`. */
  type: string
  /** As a custom resource: no strategic merge, no protobuf. */
  custom?: boolean
  /** The most bytes of a stored object, including metadata; MOST_OBJECT_BYTES if absent. */
  mostBytes?: number
  /** Nodes or bootstrap tokens can store it; what they store is limited in total. */
  writtenByNodes?: boolean
  /** metadata.generation counts the changes of the spec. */
  generation?: boolean
  /** Why a name is wrong; the sentence after `Invalid value: "x": `. A DNS subdomain if absent. */
  validateName?: (name: string, prefix: boolean) => string[]
  /** Nobody owns fields of its spec, because no update can change them. An object without labels then has no managedFields. */
  specIsNeverOwned?: boolean
  /** PUT of a missing object creates it. */
  createOnUpdate?: boolean
  /** Its objects get addresses or ports from a range, each its own: `validate` refuses what another one has. */
  allocates?: boolean
  /** PUT without a resourceVersion is refused. */
  conditionalUpdateOnly?: boolean
  /** The rules of the main endpoint. A status is written only through `/status`: the main endpoint keeps the stored one. */
  strategy: Strategy<T>
  subresources?: Record<string, Subresource<T>>
  /** Fields that a fieldSelector may name, besides metadata.name and metadata.namespace. */
  fields?: Record<string, (object: T) => string>
  /** Other names of such fields. */
  fieldAliases?: Record<string, string>
  columns?: Column<T>[]
  /** Handles a create without storing anything: the reviews. */
  review?: (object: T, context: OperationContext) => Promise<T> | T
  /** Marks an object whose deletion has begun, if more than its metadata shows it. */
  markDeleting?: (object: T) => void
  /** Returns whether something other than metadata.finalizers still holds the object. */
  holdsDeletion?: (object: T) => boolean
  /** Called on DELETE: how long the object may stay; 0 or absent deletes it at once if no finalizer holds it. */
  gracePeriodSeconds?: (object: T) => number
}

export const groupVersion = ({group, version}: {group: string; version: string}) =>
  group === '' ? version : `${group}/${version}`
